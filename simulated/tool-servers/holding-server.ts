import { frame, scriptedServer, startStream, text, tool } from "./scripted-server";

/** Whoever sends several calls at once has sent the last of them when none has come for so long, however busy the machine is. */
const QUIET_MS = 1_000;

/** A server whose tool `hold` answers nobody until no more calls come; then each is told how many it held open. */
export async function holdingServer() {
  let held: ((result: unknown) => void)[] = [];
  let quiet: NodeJS.Timeout | undefined;
  const letGo = () => {
    const open = held;
    held = [];
    for (const answer of open) answer(text(`${open.length} held`));
  };
  return scriptedServer({
    tools: [tool("hold")],
    call: ({ response, message: { id } }) => {
      startStream(response); // what waits for headers is bounded by itself
      held.push((result) => response.end(frame({ jsonrpc: "2.0", id, result })));
      clearTimeout(quiet);
      quiet = setTimeout(letGo, QUIET_MS);
    },
  });
}
