import { z } from "zod";

/**
 * The current addresses of a name; empty if the name does not exist. Throws if the lookup fails.
 */
export type Resolve = (name: string, signal: AbortSignal | null) => Promise<readonly string[]>;

const RESOLVER = "https://cloudflare-dns.com/dns-query";
const TYPES = ["A", "AAAA"] as const;
/** Record types with addresses: A and AAAA. Aliases have other types. */
const ADDRESS_TYPES = new Set([1, 28]);
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;
const WITHIN_MS = 5_000;
const SHORTEST_MS = 30_000;
const LONGEST_MS = 300_000;
const MOST_NAMES = 500;

const AnswerSchema = z.looseObject({
  Status: z.number(),
  Answer: z
    .array(z.looseObject({ type: z.number(), data: z.string(), TTL: z.number().catch(0) }))
    .optional(),
});
type Answer = z.infer<typeof AnswerSchema>;

/** Queries a resolver over HTTPS. Caches results for their TTL, at least 30 s and at most 5 min. */
export function resolverOverHttps({
  fetch: ask,
  now,
}: {
  fetch: typeof fetch;
  now: () => number;
}): Resolve {
  const known = new Map<string, { addresses: readonly string[]; until: number }>();
  return async (name, signal) => {
    const found = known.get(name);
    if (found && found.until > now()) return found.addresses;
    const answers: Answer[] = [];
    // Sequential: the caller has one slot among the connections that may wait for headers.
    for (const type of TYPES) answers.push(await lookUp(ask, { name, type, signal }));
    const records = answers
      .flatMap(({ Answer = [] }) => Answer)
      .filter(({ type }) => ADDRESS_TYPES.has(type));
    const seconds = Math.min(...records.map(({ TTL }) => TTL), LONGEST_MS / 1000);
    known.delete(name);
    const [oldest] = known.size >= MOST_NAMES ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    const addresses = records.map(({ data }) => data);
    known.set(name, { addresses, until: now() + Math.max(SHORTEST_MS, seconds * 1000) });
    return addresses;
  };
}

type Question = { name: string; type: string; signal: AbortSignal | null };

async function lookUp(ask: typeof fetch, { name, type, signal }: Question): Promise<Answer> {
  const within = AbortSignal.timeout(WITHIN_MS);
  const response = await ask(`${RESOLVER}?name=${encodeURIComponent(name)}&type=${type}`, {
    headers: { accept: "application/dns-json" },
    redirect: "manual",
    signal: signal ? AbortSignal.any([signal, within]) : within,
  });
  const answer = AnswerSchema.safeParse(response.ok ? await response.json() : null);
  if (!answer.success || (answer.data.Status !== NO_ERROR && answer.data.Status !== NO_SUCH_NAME)) {
    await response.body?.cancel().catch(() => undefined);
    throw new Error(`the address of ${name} could not be looked up`);
  }
  return answer.data;
}
