import type { Price } from "../protocol/team";
import type { Host } from "../providers/hosts";
import type { ModelFacts } from "../providers/models";
import type { Section } from "./fields";

/** A model at a host, with the parameters that may change its price. */
type PricedModel = {
  facts: ModelFacts;
  host: Host;
  model: string;
  params: Readonly<Record<string, unknown>>;
};

/** The consequence of an unknown price for a run. */
export const ONLY_TOKENS = "only budget.max_tokens can limit a run";

/**
 * The model's price; `null` if it is unknown. Warns about an unknown price, because a run then
 * cannot be limited in dollars.
 */
export function priceOf(
  section: Section,
  { facts, host, model, params }: PricedModel,
): Price | null {
  const surcharge = surchargeIn(params);
  if (facts.price !== null && surcharge === null) return facts.price;
  const { key, unpriced } =
    facts.price === null || surcharge === null ? { key: "model", unpriced: "" } : surcharge;
  const detail = `The price of ${model} at ${host.name}${unpriced} is unknown: ${ONLY_TOKENS}.`;
  section.findings.warn("price_unknown", [...section.path, key], detail);
  return null;
}

/** Values of `service_tier` that cost at most the list price. */
const LISTED_TIERS: ReadonlySet<unknown> = new Set([
  "auto",
  "default",
  "standard",
  "standard_only",
  "flex",
]);
/** Fields of `extra_body` that cost more than the list price: speed, region, search. */
const SURCHARGED_FIELDS = [
  "speed",
  "inference_geo",
  "enable_search",
  "search_parameters",
  "web_search_options",
  "plugins",
];

/**
 * The first parameter that the list price does not cover; `null` if there is none. `unpriced`
 * describes the parameter in a warning.
 */
function surchargeIn({
  service_tier,
  extra_body,
}: Readonly<Record<string, unknown>>): { key: string; unpriced: string } | null {
  const isUnlisted = (tier: unknown) => tier !== undefined && !LISTED_TIERS.has(tier);
  if (isUnlisted(service_tier)) return { key: "service_tier", unpriced: " in this tier" };
  const extra = new Map(
    typeof extra_body === "object" && extra_body !== null ? Object.entries(extra_body) : [],
  );
  const name =
    ["service_tier", "serviceTier"].find((tier) => isUnlisted(extra.get(tier))) ??
    SURCHARGED_FIELDS.find((field) => extra.has(field));
  return name === undefined ? null : { key: "extra_body", unpriced: ` with \`${name}\`` };
}
