import { type PriceRefusal, type QuotaRefusal, secondsToNextDay } from "../../tenancy/quota";
import { fullMessage } from "../../uploads/refusals";
import type { Call } from "../api-env";
import type { CapTooSmall, QuestionTooLong } from "../../coordination";
import { formatUsd } from "../../protocol/cost";
import { ApiError } from "../errors";

/** The error for a turn that a limit of the tenant refuses: the reason and what to do. */
export function quotaError(refusal: QuotaRefusal, now: number = Date.now()): ApiError {
  switch (refusal.code) {
    case "storage_exceeded":
      return storageError(refusal);
    case "quota_exceeded": {
      const { running, limit } = refusal;
      const message = `${running} ${running === 1 ? "turn is" : "turns are"} running; at most ${limit} can run at a time. Wait until a turn ends, or cancel one.`;
      return new ApiError("quota_exceeded", message, {
        limit,
        running,
        headers: { "retry-after": "10" },
      });
    }
    case "spend_exceeded": {
      const { limitUsd, spentUsd, reservedUsd } = refusal;
      const wait =
        reservedUsd > 0
          ? " Wait until a running turn ends (a run with a `budget` reserves at most that budget), or"
          : " Wait";
      const rest =
        limitUsd - spentUsd - reservedUsd > 0
          ? " The rest is less than the cost of a first call."
          : "";
      const message = `Daily budget exhausted: of today's ${formatUsd(limitUsd)}, ${formatUsd(spentUsd)} are spent and ${formatUsd(reservedUsd)} reserved by running turns.${rest}${wait} until the day ends (UTC), or have the limit raised.`;
      const members = { limit_usd: limitUsd, spent_usd: spentUsd, reserved_usd: reservedUsd };
      return new ApiError("spend_exceeded", message, {
        ...members,
        headers: { "retry-after": String(secondsToNextDay(now)) },
      });
    }
  }
}

/**
 * The error for a cost limit with agents whose price is not known. It suggests `max_tokens` only
 * for a run's own budget, because `max_tokens` does not replace the tenant's daily budget.
 */
export function priceError({ agents, isDaily }: PriceRefusal): ApiError {
  const unknown = `The price of ${agents.join(", ")} is not known`;
  const message = isDaily
    ? `${unknown}. This tenant has a daily budget (TENANT_USD_PER_DAY): use models with a known price, or ask the operator to remove the limit.`
    : `${unknown}, so a cost limit is not possible. Limit the run with budget.max_tokens instead.`;
  return new ApiError("price_unknown", message, { agents });
}

/** The error for a tenant whose storage is full. */
const storageError = ({
  storedBytes,
  limitBytes,
}: {
  storedBytes: number;
  limitBytes: number;
}): ApiError =>
  new ApiError("storage_exceeded", fullMessage({ storedBytes, limitBytes }), {
    stored_bytes: storedBytes,
    limit_bytes: limitBytes,
  });

/** Throws `storage_exceeded` if the tenant's storage is full. Call it before reading the body. */
export async function requireStorage({ env, var: { principal } }: Call): Promise<void> {
  const full = await env.contexts.store.index.full(principal.tenant);
  if (full) throw storageError(full);
}

/** The error for a budget that is too small for a first call, with the recommended minimum. */
export function budgetError({ capped, cap, cheapest, enough }: CapTooSmall): ApiError {
  const amount = capped === "max_tokens" ? tokenAmount : usdAmount;
  const message = `budget.${capped} is ${cap}, but the cheapest first call of this team can use ${amount(cheapest)}, so the run would fail at once. The first calls of all agents and one presentation can use ${amount(enough)}: set budget.${capped} to at least that.`;
  return new ApiError("budget_too_small", message, { capped, cap, cheapest, enough });
}

/** The error for a question that the window of no model fits. */
export function lengthError({ tokens, window }: QuestionTooLong): ApiError {
  const message = `The question needs about ${tokenAmount(tokens)} with its attachments and the team's instructions, but the largest window of the team has ${tokenAmount(window)}. Shorten the question, put long material into files of a context, or use a model with a larger window.`;
  return new ApiError("question_too_long", message, { tokens, window });
}

const tokenAmount = (tokens: number): string => `${tokens.toLocaleString("en-US")} tokens`;
/** Rounded up to 0.0001 USD, so that the stated amount suffices. */
const usdAmount = (usd: number): string =>
  `$${(Math.ceil(usd * 10_000 - 1e-6) / 10_000).toFixed(4)}`;
