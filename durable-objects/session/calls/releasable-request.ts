import type { Message, ModelRequest } from "../../../src/providers/provider";

/** A request whose conversation can be let go of. */
export type HeldRequest = { request: ModelRequest; letGo: () => void };

/**
 * The same request, able to let go of its conversation: that may be megabytes, every call of a team has one of its own, and
 * while a reply streams, for minutes, hardly anyone wants it. Whoever does gets it made anew. `again` must not hold on to it.
 */
export function holdRequest(
  { messages, ...rest }: ModelRequest,
  again: () => Message[],
): HeldRequest {
  let held: Message[] | null = messages;
  return {
    request: {
      ...rest,
      get messages() {
        return held ?? again();
      },
    },
    letGo: () => {
      held = null;
    },
  };
}
