import { expect, it } from "vitest";
import { inProvidersWords } from "../../../durable-objects/shared/outgoing";
import { addressGuard, guardedFetch } from "../../../src/outgoing/address-guard";
import type { Resolve } from "../../../src/outgoing/names";
import { toFailure } from "../../../src/tools/mcp/failures";

const broken = () => Promise.reject(new Error("Network connection lost."));

it.each<{ name: string; resolve: Resolve; reached: boolean }>([
  {
    name: "to a name without an address did not reach the server",
    resolve: async () => [],
    reached: false,
  },
  {
    name: "to a name that cannot be resolved did not reach the server",
    resolve: () => Promise.reject(new Error("the resolver is down")),
    reached: false,
  },
  {
    name: "to a name in a private network did not reach the server",
    resolve: async () => ["10.0.0.1"],
    reached: false,
  },
  {
    name: "with a broken connection may have reached the server",
    resolve: async () => ["93.184.215.14"],
    reached: true,
  },
])("a call of a tool server $name", async ({ resolve, reached }) => {
  const guard = addressGuard({ resolve, allowedOrigins: [], trustedOrigins: new Set() });
  const send = guardedFetch(inProvidersWords(guard), broken);
  const error = await send("https://tools.example.org/mcp").catch((thrown: unknown) => thrown);
  expect(toFailure(error, false)).toMatchObject({ reached });
});
