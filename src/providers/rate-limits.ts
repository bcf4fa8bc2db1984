/**
 * The part of the quota of an endpoint that a tenant wants to use. A field that is omitted sets no
 * limit. Tokens are input and output tokens together.
 */
export type RateLimits = {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  requestsPerDay?: number;
  tokensPerDay?: number;
};

/**
 * Default limits by host, with the values of MassGen for `enable_rate_limit: true` (its
 * `configs/rate_limits/rate_limits.yaml`, as of 2025-11). They are slightly below the free tier of
 * each model. The first pattern that matches applies.
 */
const DEFAULT_LIMITS: Readonly<Record<string, readonly (readonly [model: RegExp, RateLimits])[]>> =
  {
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
  const rows = Object.hasOwn(DEFAULT_LIMITS, host) ? DEFAULT_LIMITS[host] : undefined;
  return rows?.find(([pattern]) => pattern.test(model))?.[1] ?? null;
}
