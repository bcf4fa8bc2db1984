import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { describe, expect, it } from "vitest";
import { freePort } from "../../simulated/service/loopback";
import { demos, healthy } from "./support/demo-run";

const { demo, scratch } = demos();

async function portInUse(): Promise<{ port: number; server: Server }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("no port");
  return { port: address.port, server };
}

describe("npm run demo", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends everything that it started when it receives %s",
    async (signal) => {
      const port = await freePort();
      const { child, output, ended } = demo("--once", "--port", `${port}`);
      await expect.poll(() => output.stderr, { timeout: 60_000 }).toContain("sprinter answers");
      expect(await healthy(port)).toBe(true);
      child.kill(signal);
      expect(await ended).toBe(4);
      expect(await healthy(port)).toBe(false);
      expect(readdirSync(scratch())).toEqual([]);
      expect(output.stdout).toBe("");
    },
  );

  it("reports that the port is in use, and sends nothing to the program that uses it", async () => {
    const { port, server } = await portInUse();
    let callers = 0;
    server.on("connection", (socket) => {
      callers += 1;
      socket.destroy();
    });
    const { output, ended } = demo("--once", "--port", `${port}`);
    expect(await ended).toBe(2);
    server.close();
    expect(output.stderr).toContain(`Port ${port} is not free`);
    expect(callers).toBe(0);
  });

  it("explains its options after an unknown option and with --help", async () => {
    const { output, ended } = demo("--twice");
    expect(await ended).toBe(1);
    expect(output.stderr).toContain("usage: npm run demo");
    const help = demo("--help");
    expect(await help.ended).toBe(0);
    expect(help.output.stdout).toMatch(/^usage: npm run demo/);
  });
});
