import { frame, scriptedServer, startStream, text, tool } from "./scripted-server";

/**
 * If no call arrives for this long, the client has sent all its concurrent calls, even on a busy
 * machine.
 */
const QUIET_MS = 1_000;

/**
 * A server whose tool `hold` responds once no more calls arrive, with the number of calls it held
 * open.
 */
export async function holdingServer() {
  let held: ((result: unknown) => void)[] = [];
  let quiet: NodeJS.Timeout | undefined;
  const respondAll = () => {
    const open = held;
    held = [];
    for (const answer of open) answer(text(`${open.length} held`));
  };
  return scriptedServer({
    tools: [tool("hold")],
    call: ({ response, message: { id } }) => {
      startStream(response); // the number of requests that wait for headers is limited
      held.push((result) => response.end(frame({ jsonrpc: "2.0", id, result })));
      clearTimeout(quiet);
      quiet = setTimeout(respondAll, QUIET_MS);
    },
  });
}
