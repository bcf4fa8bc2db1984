import { expect, it } from "vitest";
import { reply, text, tool } from "../../../simulated/tool-servers/scripted-server";
import { connected, context, server, toolOf } from "./support";
import { keep, serve } from "./test-servers";

it("the second and third try of a call acquire new slots, because the first try released the slot of the call", async () => {
  let tries = 0;
  const toolServer = await serve({
    tools: [tool("act", { annotations: { readOnlyHint: true } })],
    call: ({ message, response }) => {
      tries += 1;
      if (tries === 3) reply(response, message.id, text("done"));
      else response.writeHead(503).end();
    },
  });
  const slots = { acquired: 0, released: 0 };
  const relays: (number | undefined)[] = [];
  const servers = keep(
    await connected([server(toolServer.url)], {
      trust: [{ url: toolServer.url, tool: "act", allows: "read_only" }],
      enter: async () => {
        slots.acquired += 1;
        const release = () => {
          slots.released += 1;
        };
        return { relay: 9, release };
      },
      fetchOver: (relay) => (input, init) => {
        if (String(init?.body).includes("tools/call")) relays.push(relay);
        return fetch(input, init);
      },
    }),
  );
  let released = 0;
  const onHeaders = () => {
    released += 1;
  };
  const toolContext = context({ relay: 2, onHeaders });
  const result = await toolOf(servers, "mcp__box__act").run({}, toolContext);
  expect(result).toMatchObject({ outcome: "ok" });
  expect({ relays, released }).toEqual({ relays: [2, 9, 9], released: 1 });
  expect(slots.released).toBe(slots.acquired);
});
