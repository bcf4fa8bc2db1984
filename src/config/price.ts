import type { Price } from "../protocol/team";
import type { Host } from "../providers/hosts";
import type { ModelFacts } from "../providers/models";
import type { Section } from "./fields";

/** What a backend's calls cost, as far as anybody knows. */
type Priced = {
  facts: ModelFacts;
  host: Host;
  model: string;
  params: Readonly<Record<string, unknown>>;
};

/** What follows for a run where a price is not known. */
export const ONLY_TOKENS = "only budget.max_tokens can cap a run";

/** The model's price, null where it is not known; warns of whatever keeps a cap in dollars from holding. */
export function priceOf(section: Section, { facts, host, model, params }: Priced): Price | null {
  const surcharge = surchargeIn(params);
  if (facts.price !== null && surcharge === null) return facts.price;
  const { key, what } =
    facts.price === null || surcharge === null ? { key: "model", what: "" } : surcharge;
  const detail = `The price of ${model} at ${host.name}${what} is not known: ${ONLY_TOKENS}.`;
  section.findings.warn("price_unknown", [...section.path, key], detail);
  return null;
}

/** Tiers that cost no more than the list price. */
const LISTED_TIERS: ReadonlySet<unknown> = new Set([
  "auto",
  "default",
  "standard",
  "standard_only",
  "flex",
]);
/** What else providers sell at a price of its own, said in `extra_body`: faster replies, places, searches. */
const SURCHARGED = [
  "speed",
  "inference_geo",
  "enable_search",
  "search_parameters",
  "web_search_options",
  "plugins",
];

/** What of the parameters the list price is not for, and the key under which it stands. */
function surchargeIn({
  service_tier,
  extra_body,
}: Readonly<Record<string, unknown>>): { key: string; what: string } | null {
  const isOther = (tier: unknown) => tier !== undefined && !LISTED_TIERS.has(tier);
  if (isOther(service_tier)) return { key: "service_tier", what: " in this tier" };
  const extra = new Map(
    typeof extra_body === "object" && extra_body !== null ? Object.entries(extra_body) : [],
  );
  const name =
    ["service_tier", "serviceTier"].find((tier) => isOther(extra.get(tier))) ??
    SURCHARGED.find((one) => extra.has(one));
  return name === undefined ? null : { key: "extra_body", what: ` with \`${name}\`` };
}
