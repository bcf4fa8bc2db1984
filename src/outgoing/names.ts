import * as z from "zod";
import { timeLimit } from "../async/abort";

/**
 * Returns the current addresses of a name; an empty list if the name does not exist. Throws if the
 * lookup fails.
 */
export type Resolve = (name: string, signal: AbortSignal | null) => Promise<readonly string[]>;

const RESOLVER = "https://cloudflare-dns.com/dns-query";
const QUERY_TYPES = ["A", "AAAA"] as const;
/** Record types with addresses: A and AAAA. Aliases have other types. */
const ADDRESS_TYPES = new Set([1, 28]);
/** DNS response codes. */
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;
const LOOKUP_TIMEOUT_MS = 5_000;
const MIN_CACHED_MS = 30_000;
const MAX_CACHED_MS = 300_000;
const MAX_CACHED_NAMES = 500;

const AnswerSchema = z.looseObject({
  Status: z.number(),
  Answer: z
    .array(z.looseObject({ type: z.number(), data: z.string(), TTL: z.number().catch(0) }))
    .optional(),
});
type Answer = z.infer<typeof AnswerSchema>;

/**
 * Returns a function that makes a `Resolve` over a given `fetch`. It queries a resolver over HTTPS.
 * All share one cache, which keeps results for their TTL, but at least 30 s and at most 5 min.
 */
export function resolverOverHttps({
  now,
}: {
  now: () => number;
}): (sendQuery: typeof fetch) => Resolve {
  const cache = new Map<string, { addresses: readonly string[]; until: number }>();
  return (sendQuery) => async (name, signal) => {
    const cached = cache.get(name);
    if (cached && cached.until > now()) return cached.addresses;
    const answers: Answer[] = [];
    // The lookups are sequential: the platform limits the connections that wait for headers, and
    // the caller has a slot for only one.
    for (const type of QUERY_TYPES) answers.push(await lookUp(sendQuery, { name, type, signal }));
    const records = answers
      .flatMap(({ Answer = [] }) => Answer)
      .filter(({ type }) => ADDRESS_TYPES.has(type));
    const seconds = Math.min(...records.map(({ TTL }) => TTL), MAX_CACHED_MS / 1000);
    cache.delete(name);
    const [oldest] = cache.size >= MAX_CACHED_NAMES ? cache.keys() : [];
    if (oldest !== undefined) cache.delete(oldest);
    const addresses = records.map(({ data }) => data);
    cache.set(name, { addresses, until: now() + Math.max(MIN_CACHED_MS, seconds * 1000) });
    return addresses;
  };
}

type LookUp = { name: string; type: string; signal: AbortSignal | null };

async function lookUp(sendQuery: typeof fetch, { name, type, signal }: LookUp): Promise<Answer> {
  const limit = timeLimit(LOOKUP_TIMEOUT_MS, signal ? [signal] : []);
  try {
    const response = await sendQuery(`${RESOLVER}?name=${encodeURIComponent(name)}&type=${type}`, {
      headers: { accept: "application/dns-json" },
      redirect: "manual",
      signal: limit.signal,
    });
    const answer = AnswerSchema.safeParse(response.ok ? await response.json() : null);
    const isAnswered =
      answer.success && (answer.data.Status === NO_ERROR || answer.data.Status === NO_SUCH_NAME);
    if (isAnswered) return answer.data;
    await response.body?.cancel().catch(() => undefined);
    throw new Error(`the address of ${name} could not be looked up`);
  } finally {
    limit.end();
  }
}
