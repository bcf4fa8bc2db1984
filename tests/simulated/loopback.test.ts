import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { freePort, isHealthy } from "../../simulated/service/loopback";

/** A server on a port of 127.0.0.1 that returns `status` for every request. */
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
  it("returns a free port", async () => {
    await using server = await serving(200, await freePort());
    expect(server.port).toBeGreaterThan(0);
  });

  it("returns the requested port while it is free, and refuses it while it is in use", async () => {
    const port = await freePort();
    expect(await freePort(port)).toBe(port);
    await using _ = await serving(200, port);
    await expect(freePort(port)).rejects.toThrow(`Port ${port} is not free.`);
  });
});

it.each([
  { name: "healthy if its response is 200", status: 200, well: true },
  { name: "unhealthy with another status", status: 503, well: false },
])("a service is $name", async ({ status, well }) => {
  await using server = await serving(status);
  expect(await isHealthy(`http://127.0.0.1:${server.port}`)).toBe(well);
});

it("a missing service is unhealthy", async () => {
  expect(await isHealthy(`http://127.0.0.1:${await freePort()}`)).toBe(false);
});
