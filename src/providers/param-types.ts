/** The parameters of a wire format that a config may set, as data for the config check. */

export type ParamKind =
  | { type: "number"; min: number; max: number }
  | { type: "integer"; min: number; max: number }
  | { type: "words"; words: readonly string[] }
  | { type: "flag" }
  | { type: "text" }
  | { type: "list" }
  | { type: "texts" }
  | { type: "mapping" }
  /** The format's `check` validates the content. */
  | { type: "list_or_mapping" };

export type FormatParams = {
  /**
   * Parameters by their config names, with their types. The format's `request.ts` converts them for
   * the provider.
   */
  kinds: Readonly<Record<string, ParamKind>>;
  /** Config names of the cap on output tokens. */
  outputCaps: readonly string[];
  /** Top-level request fields that the service sets itself. `extra_body` must not contain them. */
  reserved: readonly string[];
  /** Parameters of other formats, with the remedy: the equivalent in this format, if any. */
  foreign: Readonly<Record<string, string>>;
  /** Checks combinations and model-specific restrictions. Pure. */
  check?(params: Readonly<Record<string, unknown>>, model: string): readonly ParamProblem[];
  /** Whether a tool call can be forced with these parameters. Omitted: if the host can. Pure. */
  forcesTools?(params: Readonly<Record<string, unknown>>, model: string): boolean;
  /**
   * For a model that accepts hosted tools or functions but not both: the name of a model that
   * accepts both. `null` or omitted if this model does. Pure.
   */
  hostedAlone?(model: string): string | null;
};

/** The remedy for a parameter without an equivalent. */
export const NO_EQUIVALENT = "remove it";

/** `key` is the parameter to change; `detail` explains why and how. */
export type ParamProblem = { key: string; detail: string };
