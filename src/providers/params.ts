/** What a wire format says of the parameters a config may set for it: data, read by the config check. */

export type ParamKind =
  | { type: "number"; min: number; max: number }
  | { type: "integer"; min: number; max: number }
  | { type: "words"; words: readonly string[] }
  | { type: "flag" }
  | { type: "text" }
  | { type: "list" }
  | { type: "texts" }
  | { type: "mapping" }
  /** Either of the two; the format's `check` says what is in it. */
  | { type: "list_or_mapping" };

export type FormatParams = {
  /** Parameters by their names in a config, and what each takes. The format's `request.ts` says them as the provider wants. */
  kinds: Readonly<Record<string, ParamKind>>;
  /** Names under which a config may cap the output tokens of a call. */
  outputCaps: readonly string[];
  /** Top-level fields of the request that are the service's own to set: `extra_body` may not hold them. */
  reserved: readonly string[];
  /** Parameters of other formats, and how to say them in this one. */
  foreign: Readonly<Record<string, string>>;
  /** What no single parameter shows: combinations the provider refuses, or a model that does not take one. Pure. */
  check?(params: Readonly<Record<string, unknown>>, model: string): readonly ParamProblem[];
  /** Whether a tool call can be forced with these parameters; absent: wherever the host can. Pure. */
  forcesTools?(params: Readonly<Record<string, unknown>>, model: string): boolean;
  /** For a model that takes hosted tools or functions, but not both at once: one that takes both. null or absent: it does. Pure. */
  hostedAlone?(model: string): string | null;
};

/** `key` is the parameter the config's author should change; `detail` says why and to what. */
export type ParamProblem = { key: string; detail: string };
