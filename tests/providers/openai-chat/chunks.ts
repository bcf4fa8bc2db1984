import { createDecoder } from "../../../src/providers/openai-chat/decode";

/**
 * Builders for chunks as Chat Completions servers send them, and a function that decodes a complete
 * stream.
 */

export const delta = (fields: object) => ({
  choices: [{ index: 0, delta: fields, finish_reason: null }],
});
export const content = (text: string) => delta({ content: text });
export const finish = (reason: string | null) => ({
  choices: [{ index: 0, delta: {}, finish_reason: reason }],
});
type Piece = { index?: number; id?: string | null; name?: string; args?: unknown };
export const calls = (...pieces: Piece[]) =>
  delta({
    tool_calls: pieces.map(({ index, id, name, args }) => ({
      index,
      id,
      function: { name, arguments: args },
    })),
  });

export function decode(chunks: readonly unknown[], taken: string[] = []) {
  const decoder = createDecoder(new Set(taken));
  const events = chunks.flatMap((chunk) => decoder.push(chunk));
  return { events, stop: decoder.end() };
}
