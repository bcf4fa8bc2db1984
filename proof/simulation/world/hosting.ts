import type { EventOf, Usage } from "../../../src/protocol/events";
import type { Citation, HostedUse } from "../../../src/protocol/hosted-tools";
import type { AgentRules } from "../../../src/protocol/team";
import type { Chance } from "../../../simulated/chance";

/** Results of a provider's hosted tools in a call: never more uses than granted. */

type StartedCall = EventOf<"call.started">;
type Uses = NonNullable<Usage["hosted_uses"]>;

/** Charged uses. */
export function drawUses(chance: Chance, { hosted_tools = [] }: StartedCall): Uses {
  const uses: Uses = {};
  for (const { name, max_uses } of hosted_tools) {
    const count = chance.int(0, max_uses);
    if (count > 0) uses[name] = count;
  }
  return uses;
}

/** Maximum input tokens that the results of these uses add. */
export const tokensOf = (uses: Uses, { hosted_tools = [] }: AgentRules): number =>
  hosted_tools.reduce(
    (sum, { name, tokens_per_use }) => sum + (uses[name] ?? 0) * tokens_per_use,
    0,
  );

/** Reported uses of a reply; some are reported but not charged. */
export function drawHosted(
  chance: Chance,
  { hosted_tools = [] }: StartedCall,
): { hosted?: HostedUse[]; citations?: Citation[] } {
  const hosted = hosted_tools.flatMap(({ name, max_uses }) =>
    Array.from({ length: chance.int(0, Math.min(3, max_uses)) }, (_, nth): HostedUse => {
      return {
        name,
        input: `query ${nth + 1}`,
        outcome: chance.pick(["ok", "ok", "error"] as const),
        output: "found",
      };
    }),
  );
  const url = `https://source.example/${chance.int(1, 5)}`;
  return {
    ...(hosted.length > 0 ? { hosted } : {}),
    ...(hosted.length > 0 && chance.is(0.7) ? { citations: [{ url, title: "A source" }] } : {}),
  };
}
