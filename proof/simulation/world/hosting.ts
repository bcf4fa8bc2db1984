import type { EventOf, Usage } from "../../../src/protocol/events";
import type { Citation, HostedUse } from "../../../src/protocol/hosted-tools";
import type { AgentRules } from "../../../src/protocol/team";
import type { Chance } from "../../../simulated/chance";

type StartedCall = EventOf<"call.started">;
type Uses = NonNullable<Usage["hosted_uses"]>;

/** Draws the charged uses of hosted tools in a call, up to the granted number. */
export function drawUses(chance: Chance, { hosted_tools = [] }: StartedCall): Uses {
  const uses: Uses = {};
  for (const { name, max_uses } of hosted_tools) {
    const count = chance.int(0, max_uses);
    if (count > 0) uses[name] = count;
  }
  return uses;
}

/** The maximum number of input tokens that the results of these uses add. */
export const tokensOf = (uses: Uses, { hosted_tools = [] }: AgentRules): number =>
  hosted_tools.reduce(
    (sum, { name, tokens_per_use }) => sum + (uses[name] ?? 0) * tokens_per_use,
    0,
  );

/** Draws the reported uses and sources of a reply. They are independent of the charged uses. */
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
