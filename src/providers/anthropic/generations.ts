/**
 * What the generations of Claude models take, read from a model's name: how they think, and which parameters they refuse. An
 * unknown name counts as an early model, since servers that speak this format with other models speak its early form.
 */

export type Traits = {
  /** `budget`: so many tokens; `adaptive`: as the model sees fit, steered by an effort; `either`: both. */
  thinking: "budget" | "either" | "adaptive";
  /** Thinks if the request does not mention it. */
  byDefault: boolean;
  /** Cannot be kept from thinking, at least between calls of tools, and refuses to be forced to call one. */
  always: boolean;
  /** Takes temperature, top_p and top_k. */
  sampling: boolean;
  /** Takes only one of temperature and top_p. */
  oneSampling: boolean;
  /** Refuses its earlier thinking if anything before it has changed since. */
  bound: boolean;
};

const EARLY: Traits = {
  thinking: "budget",
  byDefault: false,
  always: false,
  sampling: true,
  oneSampling: false,
  bound: false,
};

const NAME =
  /(?:^|[^a-z0-9])claude-(?:(\d{1,2})(?:-(\d{1,2}))?-)?(opus|sonnet|haiku|fable|mythos)(?:-(\d{1,2})(?!\d))?(?:-(\d{1,2})(?!\d))?/i;

/** The traits by the model's name, whatever a gateway puts before or after it. */
export function traitsOf(model: string): Traits {
  const match = NAME.exec(model.replaceAll(".", "-"));
  if (!match) return EARLY;
  const family = match[3]?.toLowerCase() ?? "";
  const version =
    Number(match[1] ?? match[4] ?? 0) * 100 +
    Number(match[1] === undefined ? (match[5] ?? 0) : (match[2] ?? 0));
  const always =
    family === "fable" || family === "mythos" || (family !== "haiku" && version >= 505);
  const adaptive = always || version >= 407;
  return {
    thinking: adaptive ? "adaptive" : version === 406 ? "either" : "budget",
    byDefault: always || version >= 500,
    always,
    sampling: !adaptive,
    oneSampling: version >= 401,
    bound: version >= (family === "fable" || family === "mythos" ? 501 : 505),
  };
}
