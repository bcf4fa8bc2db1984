import type { NumberedEvent } from "../../../checker";
import { idOf } from "./engine-situation";
import type { OutsideCheck } from "./outside";
import type { ExpectedTeam } from "./team-user";

/**
 * Each turn is played by the team that its request brought, or by that of its parent, with its own
 * overrides and without those of other turns: only its agents are asked, labels have their numbers
 * in the whole team, and the API shows them.
 */
export const teamsOfTurns: OutsideCheck = ({ teams, tree, log, platform, stuck }) => {
  if (!teams || stuck !== null) return [];
  const { expected } = teams;
  const answers = new Map<string, number>();
  const inLog = log.flatMap((event) => {
    const team = expected.get(event.turn);
    return team ? problemsOf(event, team, answers) : [];
  });
  const asked = platform.providers.received.flatMap(({ call, agent }) => {
    const turn = Number(call.split("_")[1]);
    return expected.get(turn)?.numbers.has(idOf(agent)) === false
      ? [`${call} was sent to the provider of ${idOf(agent)}, who takes no part in turn ${turn}`]
      : [];
  });
  const shown = (tree?.shown?.turns ?? []).flatMap(({ turn, team }) => {
    const ids = [...(expected.get(turn)?.numbers.keys() ?? [])].join();
    const found = team.map(({ agent }) => agent).join();
    return found === ids ? [] : [`the API shows ${found} for turn ${turn}, expected ${ids}`];
  });
  return [...inLog, ...asked, ...shown];
};

/** `answers`: counts the answers of each agent and attempt. */
function problemsOf(
  event: NumberedEvent,
  { numbers, mostAnswers }: ExpectedTeam,
  answers: Map<string, number>,
): string[] {
  if (event.type === "turn.started") {
    const found = Object.keys(event.aliases);
    const isRight = found.length === numbers.size && found.every((id) => numbers.has(id));
    return isRight ? [] : [`turn ${event.turn} has the agents ${found.join()}`];
  }
  if (event.type !== "answer.submitted" && event.type !== "presentation.completed") return [];
  const number = numbers.get(event.agent) ?? "none";
  const wrong = event.label.startsWith(`agent${number}.`)
    ? []
    : [`${event.label} of turn ${event.turn} is by ${event.agent}, whose number is ${number}`];
  if (event.type === "presentation.completed") return wrong;
  const place = `${event.turn} ${event.attempt} ${event.agent}`;
  const count = (answers.get(place) ?? 0) + 1;
  answers.set(place, count);
  return count > mostAnswers ? [...wrong, `${place} has more than ${mostAnswers} answers`] : wrong;
}
