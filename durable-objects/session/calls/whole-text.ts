import { isLongFinal, type ModelCallEffect, runningTurn } from "../../../src/coordination";
import { logError } from "../../../src/redaction/log";
import { hashOf } from "../../../src/workspace/hash";
import type { Engine } from "../engine";
import type { ResultFile } from "../files/files-entry";
import { FILES } from "../../shared/limits";

type Replied = { effect: ModelCallEffect; text: string; signal: AbortSignal };

/**
 * The text of a presenter's reply that is too long to be shown whole, ready to be written with the reply; null: the text is short
 * enough, its author has no workspace, or the text cannot be kept.
 */
export async function wholeTextOf(
  engine: Engine,
  { effect, text, signal }: Replied,
): Promise<ResultFile | null> {
  const turn = runningTurn(engine.state);
  if (effect.purpose !== "presentation" || !isLongFinal(text)) return null;
  if (!turn || !engine.workspaces.has(turn, effect.agent)) return null;
  const bytes = new TextEncoder().encode(text);
  if (bytes.byteLength > FILES.fileBytes) return null;
  const whole = { name: "final.txt", hash: await hashOf(bytes), bytes };
  try {
    await engine.workspaces.spill({ staged: null, results: [whole] }, signal);
    return whole;
  } catch (error) {
    // A reply is worth more than its file: the shown text says that the rest is not kept.
    if (!signal.aborted) logError("a long final text was not kept", engine.facts.sessionId, error);
    return null;
  }
}
