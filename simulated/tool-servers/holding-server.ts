import { frame, scriptedServer, startStream, text, tool } from "./scripted-server";

/**
 * If no call arrives for this time, the client has sent all its concurrent calls. Long enough for a
 * busy machine.
 */
const QUIET_MS = 1_000;

/**
 * An MCP server with a tool `hold`. It keeps calls open until no more calls arrive. Then it
 * responds to all of them with their number.
 */
export async function holdingServer() {
  let respondTo: ((result: unknown) => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  const respondAll = () => {
    const open = respondTo;
    respondTo = [];
    for (const respond of open) respond(text(`${open.length} held`));
  };
  return scriptedServer({
    tools: [tool("hold")],
    call: ({ response, message: { id } }) => {
      startStream(response); // the number of requests that wait for headers is limited
      respondTo.push((result) => response.end(frame({ jsonrpc: "2.0", id, result })));
      clearTimeout(timer);
      timer = setTimeout(respondAll, QUIET_MS);
    },
  });
}
