import type { Reply, Script } from "./reply";
import { answersThenVotes, best, byStage, call, newAnswer, vote } from "./scripts";
import type { Situation } from "./situation";

/** Agents that do what the rules forbid, or do it without end. */

/** Votes for the answer that is its own, if it can tell. */
export const votesForItself = (answer: string): Script =>
  answersThenVotes({
    answer,
    voteFor: ({ shown }) => shown.find(({ text }) => text.includes(answer))?.alias ?? "agent1",
  });

/** Votes for these instead of what is offered, one in each call, then as it should. */
export function votesWrongly(answer: string, ...targets: [string, ...string[]]): Script {
  const base = answersThenVotes({ answer });
  return (situation) => {
    const target = situation.stage === "deciding" ? targets[situation.callIndex] : undefined;
    return target === undefined
      ? base(situation)
      : call("vote", { agent_id: target, reason: "I think so." });
  };
}

/** Answers and votes in one reply whenever both are offered, until it has been told three times. */
export function decidesTwice(answer: string, times: number): Script {
  const base = answersThenVotes({ answer });
  return (situation) => {
    if (situation.stage !== "deciding" || situation.callIndex >= times) return base(situation);
    return {
      calls: [
        ...(newAnswer(`${answer} Again, in other words: ${situation.callIndex}.`).calls ?? []),
        ...callsOf(vote(situation)),
      ],
    };
  };
}

/** Votes `times` times in one reply, for all it was shown in turn. */
export function votesManyTimes(answer: string, times: number): Script {
  const target = ({ shown }: Situation, nth: number) =>
    shown[nth % Math.max(1, shown.length)]?.alias ?? "agent1";
  return byStage({
    answering: () => newAnswer(answer),
    deciding: (situation) => ({
      calls: Array.from({ length: times }, (_, nth) =>
        callsOf(call("vote", { agent_id: target(situation, nth), reason: "x" })),
      ).flat(),
    }),
    presenting: ({ shown }) => ({ text: best(shown)?.text ?? answer }),
  });
}

/** Calls a tool nobody offered, `times` times in one reply, then does as it should. */
export function callsTheUnknown(answer: string, times: number): Script {
  const base = answersThenVotes({ answer });
  const calls = Array.from({ length: times }, (_, nth) => ({
    name: "delete_everything",
    arguments: { nth },
  }));
  return (situation) =>
    situation.callIndex === 0 && situation.stage !== "presentation" ? { calls } : base(situation);
}

/** Calls a tool `times` times in one reply, and answers with what it was told. */
export function callsAtOnce(name: string, times: number): Script {
  const calls = Array.from({ length: times }, (_, nth) => ({ name, arguments: { nth } }));
  return byStage({
    answering: ({ callIndex, toolResults }) =>
      callIndex === 0
        ? { calls }
        : newAnswer(`Told: ${toolResults.map(({ text }) => text).join(", ")}`),
    deciding: (situation) => vote(situation),
    presenting: ({ shown }) => ({ text: best(shown)?.text ?? "" }),
  });
}

const callsOf = (reply: Reply) => reply.calls ?? [];
