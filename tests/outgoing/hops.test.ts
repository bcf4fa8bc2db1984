import { describe, expect, it } from "vitest";
import { markedFetch } from "../../src/outgoing/address-guard";

describe("every request that leaves (L17)", () => {
  it.each<{ name: string; input: string | Request; init?: RequestInit }>([
    { name: "an address", input: "https://api.example.com/v1" },
    {
      name: "an address with headers",
      input: "https://api.example.com/v1",
      init: { headers: { "x-mine": "1", "massgen-hops": "" } },
    },
    {
      name: "a request",
      input: new Request("https://api.example.com/v1", { headers: { "x-mine": "1" } }),
    },
  ])(
    "of $name is marked as sent by a service of this kind, and keeps its other headers",
    async ({ input, init }) => {
      const sent: Headers[] = [];
      const send: typeof fetch = async (asked, more) => {
        sent.push(new Headers(more?.headers ?? (asked instanceof Request ? asked.headers : {})));
        return new Response();
      };
      await markedFetch(send)(input, init);
      expect(sent[0]?.get("massgen-hops")).toBe("1");
      if (init !== undefined || input instanceof Request) expect(sent[0]?.get("x-mine")).toBe("1");
    },
  );
});
