import { measureCpu } from "./cpu";
import { measureFirstEvent } from "./first-event";
import { startRuntime } from "./runtime";
import { measureWall } from "./wall";

const runtime = await startRuntime();
const t = Date.now();
const say = (name: string, value: unknown) => console.log(name, ((Date.now() - t) / 1000).toFixed(1), JSON.stringify(value, null, 1));
try {
  say("first", await measureFirstEvent(runtime));
  say("wall", await measureWall(runtime));
  say("cpu", await measureCpu(runtime, { load: { answerTokens: 20_000, voteTokens: 40, presentationTokens: 40, pace: null }, runs: 5 }));
} finally {
  await runtime.stop();
}
