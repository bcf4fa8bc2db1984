import { describe, expect, it } from "vitest";
import { markedFetch } from "../../src/outgoing/address-guard";

describe("every outgoing request (L17)", () => {
  it.each<{ name: string; input: string | Request; init?: RequestInit }>([
    { name: "a URL", input: "https://api.example.com/v1" },
    {
      name: "a URL with headers",
      input: "https://api.example.com/v1",
      init: { headers: { "x-mine": "1", "massgen-hops": "" } },
    },
    {
      name: "a Request object",
      input: new Request("https://api.example.com/v1", { headers: { "x-mine": "1" } }),
    },
  ])(
    "by $name has the header of a massgen-edge service, and its own headers",
    async ({ input, init }) => {
      const sent: Headers[] = [];
      const send: typeof fetch = async (target, more) => {
        sent.push(new Headers(more?.headers ?? (target instanceof Request ? target.headers : {})));
        return new Response();
      };
      await markedFetch(send)(input, init);
      expect(sent[0]?.get("massgen-hops")).toBe("1");
      if (init !== undefined || input instanceof Request) expect(sent[0]?.get("x-mine")).toBe("1");
    },
  );
});
