import { type RateLimits, usualRates } from "../providers/rate-limits";
import { checkKeys } from "./check-keys";
import { subsection, integer, type Kind, read, type Section } from "./fields";
import { RATE_KEYS } from "./known-keys";
import { BACKEND } from "./backend-settings";
import { readSetting } from "./setting";

/**
 * Reads the rate limits of a backend: `rate_limits`, and the provider's defaults for
 * `enable_rate_limit: true`.
 */

/** The keys of `rate_limits`, with MassGen's names. */
export const RATES: Readonly<
  Record<"rpm" | "tpm" | "rpd" | "tpd", { description: string; kind: Kind<number> }>
> = {
  rpm: { description: "Requests per minute.", kind: integer(1, 1_000_000) },
  tpm: {
    description: "Tokens per minute, input and output together.",
    kind: integer(1, 10_000_000_000),
  },
  rpd: { description: "Requests per day.", kind: integer(1, 1_000_000_000) },
  tpd: {
    description: "Tokens per day, input and output together.",
    kind: integer(1, 1_000_000_000_000),
  },
};

/** The backend's rate limits; `null` if it has none. */
export function readRates(
  backend: Section,
  place: { host: string; hostName: string; model: string },
): RateLimits | null {
  const { findings, path } = backend;
  const isEnabled = readSetting(backend, BACKEND.rateLimit);
  const configured = readLimits(backend);
  if (isEnabled === false || (isEnabled === null && !configured)) return null;
  const key = isEnabled ? BACKEND.rateLimit.key : "rate_limits";
  if (!findings.serves("rates")) {
    findings.warn(
      "no_effect",
      [...path, key],
      `\`${key}\` is ignored: rate limits of providers are always respected.`,
      "key",
    );
    return null;
  }
  const defaults = isEnabled ? usualRates(place.host, place.model) : null;
  if (!defaults && !configured) {
    const detail = `\`${key}\` has no effect: the default limits of ${place.hostName} are unknown. Write \`rate_limits: {rpm: …, tpm: …}\`.`;
    findings.warn("no_effect", [...path, key], detail, "key");
    return null;
  }
  return { ...defaults, ...configured };
}

function readLimits(backend: Section): RateLimits | null {
  const section = subsection(backend, "rate_limits");
  checkKeys(section, RATE_KEYS);
  const [rpm, tpm, rpd, tpd] = (["rpm", "tpm", "rpd", "tpd"] as const).map((key) =>
    read(section, key, RATES[key].kind, null),
  );
  const limits: RateLimits = {
    ...(rpm != null && { requestsPerMinute: rpm }),
    ...(tpm != null && { tokensPerMinute: tpm }),
    ...(rpd != null && { requestsPerDay: rpd }),
    ...(tpd != null && { tokensPerDay: tpd }),
  };
  return Object.keys(limits).length > 0 ? limits : null;
}
