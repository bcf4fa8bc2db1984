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
  const warn = (detail: string) => section.findings.warn("price_unknown", [...section.path, "model"], detail);
  if (facts.price === null) warn(`The price of ${model} at ${host.name} is not known: ${ONLY_TOKENS}.`);
  else if (isOtherTier(params)) warn(`The price of ${model} is known at the standard tier alone: ${ONLY_TOKENS}.`);
  else return facts.price;
  return null;
}

/** Tiers that cost no more than the list price. */
const LISTED_TIERS: ReadonlySet<unknown> = new Set(["auto", "default", "standard", "standard_only", "flex"]);
/** What else providers sell at a price of its own, said in `extra_body`. */
const SURCHARGED = ["speed", "inference_geo"];

function isOtherTier(params: Readonly<Record<string, unknown>>): boolean {
  const { service_tier, extra_body } = params;
  const extra = new Map(typeof extra_body === "object" && extra_body !== null ? Object.entries(extra_body) : []);
  const tiers = [service_tier, extra.get("service_tier"), extra.get("serviceTier")].filter((tier) => tier !== undefined);
  return tiers.some((tier) => !LISTED_TIERS.has(tier)) || SURCHARGED.some((key) => extra.has(key));
}
