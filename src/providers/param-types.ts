/**
 * Types for the parameters of a wire format that a config may set. The config check reads such
 * data.
 */

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
   * The types of the parameters, by their config names. `request.ts` of the format converts the
   * parameters for the provider.
   */
  kinds: Readonly<Record<string, ParamKind>>;
  /** Config names of the parameter that caps output tokens. */
  outputCaps: readonly string[];
  /** Top-level request fields that the service sets itself. `extra_body` must not contain them. */
  reserved: readonly string[];
  /**
   * Parameters of other formats that a config might contain. The value says how to correct
   * the config.
   */
  foreign: Readonly<Record<string, string>>;
  /** The problems of combinations and of restrictions by model. Pure. */
  check?(params: Readonly<Record<string, unknown>>, model: string): readonly ParamProblem[];
  /**
   * Whether a tool call can be forced with these parameters. If omitted, only the host decides.
   * Pure.
   */
  forcesTools?(params: Readonly<Record<string, unknown>>, model: string): boolean;
  /**
   * For a model that accepts either hosted tools or functions but not both: the name of a model
   * that accepts both. `null` or omitted if this model accepts both. Pure.
   */
  hostedAlone?(model: string): string | null;
};

/** The remedy for a parameter without an equivalent. */
export const NO_EQUIVALENT = "remove it";

/** `key` is the parameter to change; `detail` explains why and how. */
export type ParamProblem = { key: string; detail: string };
