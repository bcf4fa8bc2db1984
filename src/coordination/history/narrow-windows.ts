/**
 * Models whose windows are smaller than assumed. A provider that refuses a request as too long
 * shows it. The space for the history in their prompts is halved, so that a few turns at most fail
 * until it fits. This module is pure.
 */

/** A model, and how often the space for the history in its prompts is halved. */
export type NarrowWindow = { provider: string; model: string; halvings: number };

/** A model as agents name it. */
type Model = Pick<NarrowWindow, "provider" | "model">;

/** Most halvings: a 64th of the assumed window. */
const MAX_HALVINGS = 6;
/** The most models that are remembered: those of two of the largest teams. */
const MAX_MODELS = 128;

/** How often the space for the history is halved for this model. */
export const halvingsOf = (model: Model, windows: readonly NarrowWindow[]): number =>
  windows.find((window) => isSame(window, model))?.halvings ?? 0;

/** What a turn shows about the windows of its models. `earlier`: what was known before it. */
export type ShownWindows = {
  earlier: readonly NarrowWindow[];
  /** The models whose requests were refused as too long, until their agents gave up. */
  refused: readonly Model[];
  /** Bytes of the history that the refused prompts had, and of the question after it. */
  bytes: { history: number; question: number };
};

/**
 * What is known after a turn. A question that is longer than the history before it shows nothing: a
 * shorter history would not have helped, and the next question may be short again.
 */
export function windowsAfter({ earlier, refused, bytes }: ShownWindows): readonly NarrowWindow[] {
  if (bytes.question > bytes.history) return earlier;
  const distinct = refused.filter(
    (model, index) => refused.findIndex((other) => isSame(other, model)) === index,
  );
  const narrowed = distinct.map(({ provider, model }) => {
    const halvings = Math.min(MAX_HALVINGS, halvingsOf({ provider, model }, earlier) + 1);
    return { provider, model, halvings };
  });
  const others = earlier.filter((window) => !narrowed.some((other) => isSame(other, window)));
  return [...narrowed, ...others].slice(0, MAX_MODELS);
}

const isSame = (a: Model, b: Model): boolean => a.provider === b.provider && a.model === b.model;
