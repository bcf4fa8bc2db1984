import type { Price } from "../protocol/team";
import type { Host } from "../providers/hosts";
import type { ModelFacts } from "../providers/models";
import type { Section } from "./fields";

/** The price of a backend's calls, if known. */
type PricedModel = {
  facts: ModelFacts;
  host: Host;
  model: string;
  params: Readonly<Record<string, unknown>>;
};

/** The consequence of an unknown price for a run. */
export const ONLY_TOKENS = "only budget.max_tokens can limit a run";

/** The model's price; `null` if unknown. Warns if a cap in dollars cannot work. */
export function priceOf(
  section: Section,
  { facts, host, model, params }: PricedModel,
): Price | null {
  const surcharge = surchargeIn(params);
  if (facts.price !== null && surcharge === null) return facts.price;
  const { key, what } =
    facts.price === null || surcharge === null ? { key: "model", what: "" } : surcharge;
  const detail = `The price of ${model} at ${host.name}${what} is unknown: ${ONLY_TOKENS}.`;
  section.findings.warn("price_unknown", [...section.path, key], detail);
  return null;
}

/** Tiers that cost at most the list price. */
const LISTED_TIERS: ReadonlySet<unknown> = new Set([
  "auto",
  "default",
  "standard",
  "standard_only",
  "flex",
]);
/** Features in `extra_body` with a separate price: speed, region, search. */
const SURCHARGED = [
  "speed",
  "inference_geo",
  "enable_search",
  "search_parameters",
  "web_search_options",
  "plugins",
];

/** The parameter that the list price does not cover, with its key; `null` if there is none. */
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
