import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { freePort, isHealthy } from "../../simulated/service/loopback";

/** A server on a port of 127.0.0.1 that answers everything with `status`. */
async function serving(status: number, port = 0) {
  const server = createServer((_, response) => response.writeHead(status).end()).listen(
    port,
    "127.0.0.1",
  );
  await once(server, "listening");
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("no port");
  return { port: address.port, [Symbol.asyncDispose]: async () => void server.close() };
}

describe("freePort", () => {
  it("gives a port that one can listen on", async () => {
    await using server = await serving(200, await freePort());
    expect(server.port).toBeGreaterThan(0);
  });

  it("gives the wanted port while it is free, and refuses it while somebody holds it", async () => {
    const port = await freePort();
    expect(await freePort(port)).toBe(port);
    await using _ = await serving(200, port);
    await expect(freePort(port)).rejects.toThrow(`Port ${port} is not free.`);
  });
});

it.each([
  { name: "well when it says so", status: 200, well: true },
  { name: "not well when it answers otherwise", status: 503, well: false },
])("a service is $name", async ({ status, well }) => {
  await using server = await serving(status);
  expect(await isHealthy(`http://127.0.0.1:${server.port}`)).toBe(well);
});

it("a service that is not there is not well", async () => {
  expect(await isHealthy(`http://127.0.0.1:${await freePort()}`)).toBe(false);
});
