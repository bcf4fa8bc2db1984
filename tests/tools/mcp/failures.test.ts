import { expect, it } from "vitest";
import { inProvidersWords } from "../../../durable-objects/shared/outgoing";
import { addressGuard, guardedFetch } from "../../../src/outgoing/address-guard";
import type { Resolve } from "../../../src/outgoing/names";
import { RelayLostError } from "../../../src/tools/relay-lost";
import { toFailure } from "../../../src/tools/mcp/to-failure";

const brokenNetwork = () => Promise.reject(new Error("Network connection lost."));

it.each<{ name: string; resolve: Resolve; wasReached: boolean }>([
  {
    name: "to a name without an address did not reach the server",
    resolve: async () => [],
    wasReached: false,
  },
  {
    name: "to a name that cannot be resolved did not reach the server",
    resolve: () => Promise.reject(new Error("the resolver is down")),
    wasReached: false,
  },
  {
    name: "to a name in a private network did not reach the server",
    resolve: async () => ["10.0.0.1"],
    wasReached: false,
  },
  {
    name: "with a broken connection may have reached the server",
    resolve: async () => ["93.184.215.14"],
    wasReached: true,
  },
])("a call of a tool server $name", async ({ resolve, wasReached }) => {
  const guard = addressGuard({ resolve, allowedOrigins: [], trustedOrigins: new Set() });
  const send = guardedFetch(inProvidersWords(guard), brokenNetwork);
  const error = await send("https://tools.example.org/mcp").catch((thrown: unknown) => thrown);
  expect(toFailure(error, false)).toMatchObject({ wasReached });
});

it("a call of a tool server whose relay was lost may have reached the server, which is not at fault", () => {
  const lost = new TypeError("fetch failed", { cause: new RelayLostError("it was reset") });
  expect(toFailure(lost, false)).toMatchObject({
    wasReached: true,
    isTransient: true,
    isServerFault: false,
  });
});
