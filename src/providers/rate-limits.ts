/**
 * The share of an endpoint's quota that a tenant wants to use. Omitted: no limit of that kind.
 * Tokens are input and output together.
 */
export type RateLimits = {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  requestsPerDay?: number;
  tokensPerDay?: number;
};

/**
 * MassGen's defaults for `enable_rate_limit: true` (its `configs/rate_limits/rate_limits.yaml`, as
 * of 2025-11): slightly below each model's free tier. By host; the first pattern that matches
 * applies.
 */
const USUAL: Readonly<Record<string, readonly (readonly [model: RegExp, RateLimits])[]>> = {
  google: [
    [
      /^gemini-2\.5-flash$/,
      { requestsPerMinute: 9, tokensPerMinute: 240_000, requestsPerDay: 245 },
    ],
    [/^gemini-2\.5-pro$/, { requestsPerMinute: 2, tokensPerMinute: 120_000, requestsPerDay: 48 }],
    [/^/, { requestsPerMinute: 7, tokensPerMinute: 100_000, requestsPerDay: 100 }],
  ],
};

/** The default limits of a model at a host (an id of `hosts.ts`); `null` if there are none. */
export function usualRates(host: string, model: string): RateLimits | null {
  const rows = Object.hasOwn(USUAL, host) ? USUAL[host] : undefined;
  return rows?.find(([pattern]) => pattern.test(model))?.[1] ?? null;
}
