import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { freePort, isHealthy } from "../../simulated/service/loopback";

/** A server on a port of 127.0.0.1 that returns `status` for every request. */
async function startServer(status: number, port = 0) {
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
    await using server = await startServer(200, await freePort());
    expect(server.port).toBeGreaterThan(0);
  });

  it("returns the requested port if it is free, and throws if it is in use", async () => {
    const port = await freePort();
    expect(await freePort(port)).toBe(port);
    await using _ = await startServer(200, port);
    await expect(freePort(port)).rejects.toThrow(`Port ${port} is not free.`);
  });
});

it.each([
  { name: "healthy if it responds with 200", status: 200, healthy: true },
  { name: "unhealthy if it responds with another status", status: 503, healthy: false },
])("a service is $name", async ({ status, healthy }) => {
  await using server = await startServer(status);
  expect(await isHealthy(`http://127.0.0.1:${server.port}`)).toBe(healthy);
});

it("a service is unhealthy if its port is closed", async () => {
  expect(await isHealthy(`http://127.0.0.1:${await freePort()}`)).toBe(false);
});
