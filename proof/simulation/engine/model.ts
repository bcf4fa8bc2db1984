import { madeUpArguments } from "../../../simulated/providers/made-up-arguments";
import type { Situation } from "../../../simulated/providers/situation";
import { Chance } from "../../../simulated/chance";
import { drawText } from "../world/texts";
import { hash } from "./faults";
import type { Habit } from "./habits";
import type { Search, ReplyContent } from "./wire/frame";

/** A model's reply to one request. */
export type ModelReply = {
  text: string;
  calls: { name: string; arguments: string }[];
  searches?: readonly Search[];
};

/** How a reply ends: complete, cut at its output limit, or withheld by its provider. */
export type Ending = ReplyContent["finish"];

type Character = "agreeable" | "improver" | "stubborn" | "careless";

/** What the reply of a model depends on, besides the request. */
type Speaker = {
  chance: Chance;
  has: (habit: Habit) => boolean;
  character: Character;
  /** The mark that the model's answers contain. */
  mark: string;
  /** Whether this is the first agent. */
  isFirst: boolean;
};

/**
 * A mark that every answer contains, so that the checks find requests with this answer. It is
 * derived from the id of the call that wrote the answer.
 */
export const markOf = (call: string): string =>
  `zq${call.replace("call_", "").replaceAll("_", "x")}zq`;
/** Marks of questions and of answers. */
const TURN_MARKS = /hq\d+hq|(?: final )?zq\d+x[\dx]+zq/g;
export const MARK = /zq(\d+)x(\d+)x\d+x[\dx]+zq/g;

/**
 * The reply of the simulated model to a request. It depends only on the request, the call, the
 * agent and the run's seed and habits.
 */
export function replyOfModel(
  situation: Situation,
  {
    seed,
    call,
    agent,
    habits,
  }: { seed: number; call: string; agent: number; habits: readonly Habit[] },
): ModelReply {
  const has = (habit: Habit): boolean => habits.includes(habit);
  const choices = new Chance(seed ^ hash(`temper ${agent}`));
  const character = choices.weighted({
    agreeable: 5,
    improver: 3,
    stubborn: has("stubborn") ? 8 : 0,
    careless: has("mistakes") ? 8 : 0,
  });
  const speaker = {
    chance: new Chance(seed ^ hash(call)),
    has,
    character,
    mark: markOf(call),
    isFirst: agent === 0,
  };
  const reply = replyTo(situation, speaker);
  return situation.asked.hostedTools.includes("web_search")
    ? addSearches(reply, new Chance(seed ^ hash(`search ${call}`)))
    : reply;
}

/**
 * The part of a reply that the provider sends. A cut reply ends within a text or a call, or just
 * after a complete call. A withheld reply may contain complete calls, too. The service must not
 * count the calls of a cut or withheld reply, although they may be readable.
 */
export function sentPartOf(reply: ModelReply, ending: Ending, chance: Chance): ModelReply {
  const { text, calls } = reply;
  if (ending !== "length" || (calls.length > 0 && chance.is(0.5))) return reply;
  const cut = calls.slice(0, 1).map((one) => ({ ...one, arguments: one.arguments.slice(0, -3) }));
  return { ...reply, text: text.slice(0, Math.ceil(text.length / 2)), calls: cut };
}

/** Usually adds web searches, and often a text about their results. */
function addSearches(reply: ModelReply, chance: Chance): ModelReply {
  if (chance.is(0.3)) return reply;
  const searches = Array.from({ length: chance.int(1, 4) }, () => {
    const page = chance.int(1, 9);
    return { query: drawText(chance), url: `https://pages.example/${page}`, title: `Page ${page}` };
  });
  return { ...reply, text: reply.text || (chance.is(0.8) ? drawText(chance) : ""), searches };
}

function replyTo(situation: Situation, speaker: Speaker): ModelReply {
  switch (situation.stage) {
    case "personas":
      return personas(situation, speaker);
    case "summary":
      return summary(situation, speaker);
    case "judgement":
      return judgement(speaker);
    case "presentation":
      return presentation(situation, speaker);
    case "first_answer":
    case "deciding":
    case "at_limit":
      return decision(situation, speaker);
  }
}

const textReply = (text: string): ModelReply => ({ text, calls: [] });
const callsReply = (...calls: [string, object | string][]): ModelReply => ({
  text: "",
  calls: calls.map(([name, args]) => ({
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  })),
});

function personas({ asked }: Situation, { chance }: Speaker): ModelReply {
  if (chance.is(0.2)) return textReply("I would rather not.");
  const tool = asked.tools.find(({ name }) => name === "assign_personas");
  return callsReply(["assign_personas", madeUpArguments(tool?.parameters)]);
}

/** A summary keeps the marks of questions and answers, so that the checks find its turns. */
function summary({ asked }: Situation, { chance }: Speaker): ModelReply {
  if (chance.is(0.1)) return textReply(" ");
  const text = asked.messages.map((message) => message.text).join("\n");
  return textReply(`so far ${[...new Set(text.match(TURN_MARKS))].join(" ")}`);
}

function judgement({ chance, has }: Speaker): ModelReply {
  const verdict = chance.weighted({
    confirmed: has("strict_judges") ? 1 : 5,
    rejected: has("strict_judges") ? 12 : 4,
    silent: 1,
  });
  if (verdict === "silent") return textReply("Hm.");
  if (verdict === "confirmed") return callsReply(["submit", { confirmed: true }]);
  return callsReply(["restart_orchestration", { reason: "shallow", instructions: "dig deeper" }]);
}

function presentation(situation: Situation, speaker: Speaker): ModelReply {
  const { chance, has, mark } = speaker;
  const worksOften = has("projects") || has("branches");
  if (canWork(situation) && chance.is(worksOften ? 0.7 : 0.3)) return work(situation, speaker);
  return textReply(
    has("silent_agents") && chance.is(0.3) ? " " : `${drawText(chance)} final ${mark}`,
  );
}

/** Weights of the calls of file tools. */
const FILE_WORK = { write: 5, read: 2, peek: 2, copy: 1, remove: 1 };

/** Weights of the calls of file tools on the project's context. */
const PROJECT_WORK = { change: 12, look_at: 4, drop: 3 };

const drawSitePath = (chance: Chance): string =>
  `/contexts/site/${chance.pick(["a.txt", "b.txt", "dist/app.js", "new.txt"])}`;

/** Whether the request offers tools that the model can use. */
const canWork = ({ asked }: Situation): boolean =>
  asked.tools.some(({ name }) => ["write_file", "look_up", "place_order"].includes(name));

/**
 * One to three calls of file tools and remote tools. There are only three file names, so that
 * agents often use the same files.
 */
function work({ shown }: Situation, { chance, has, mark }: Speaker): ModelReply {
  const path = `/workspace/${chance.pick(["a.txt", "b.txt", "deep/er/c.txt"])}`;
  const peer = shown.length > 0 ? `/peers/${chance.pick(shown).alias}` : "/peers";
  const drawCall = (): [string, object] => {
    switch (
      chance.weighted({
        ...(has("tools") && FILE_WORK),
        ...(has("projects") && PROJECT_WORK),
        order: 4,
        look: has("long_results") ? 20 : 3,
      })
    ) {
      case "write":
        return ["write_file", { path, content: `${drawText(chance)} ${mark}` }];
      case "change":
        return ["write_file", { path: drawSitePath(chance), content: `site ${mark}` }];
      case "drop":
        return ["delete_file", { path: drawSitePath(chance) }];
      case "look_at":
        return ["read_file", { path: drawSitePath(chance) }];
      case "read":
        return ["read_file", { path }];
      case "peek":
        return ["read_file", { path: `${peer}/a.txt` }];
      case "copy":
        return ["copy_file", { source: peer, destination: "/workspace/theirs" }];
      case "remove":
        return ["delete_file", { path }];
      case "order":
        return ["place_order", {}];
      case "look":
        return ["look_up", {}];
    }
  };
  return callsReply(...Array.from({ length: chance.int(1, 3) }, drawCall));
}

function decision(situation: Situation, speaker: Speaker): ModelReply {
  const { chance, has, character } = speaker;
  if (has("silent_agents") && chance.is(0.3))
    return textReply(chance.is(0.7) ? `${drawText(chance)} ${speaker.mark}` : "");
  if (character === "careless" && chance.is(0.55)) return mistake(situation, speaker);
  if (has("toolish") && chance.is(0.5)) return callsReply(["no_such_tool", { path: "/" }]);
  if (has("endless_tools") && speaker.isFirst && situation.stage !== "first_answer") {
    return canWork(situation) && chance.is(0.3)
      ? work(situation, speaker)
      : callsReply(["no_such_tool", {}]);
  }
  if (canWork(situation) && chance.is(has("long_results") ? 0.8 : has("prolific") ? 0.35 : 0.45))
    return work(situation, speaker);
  const text = chance.is(0.3) ? drawText(chance) : "";
  return { ...answerOrVote(situation, speaker), text };
}

function answerOrVote(situation: Situation, speaker: Speaker): ModelReply {
  const { chance, has, character } = speaker;
  if (situation.stage === "first_answer") return answer(newText(speaker));
  if (has("prolific") && situation.stage === "deciding" && chance.is(0.95))
    return answer(newText(speaker));
  const votes = chance.is(
    { agreeable: 0.9, improver: 0.55, careless: 0.6, stubborn: 0.1 }[character],
  );
  if (votes || (situation.stage === "at_limit" && chance.is(0.8))) return vote(situation, speaker);
  return answer(nextText(situation, speaker));
}

const newText = ({ chance, mark }: Speaker): string =>
  `${drawText(chance)} ${drawText(chance)} ${mark}`;

/** A new text, the text of a shown answer, or a text close to that answer. */
function nextText({ shown }: Situation, speaker: Speaker): string {
  const { chance } = speaker;
  const known = shown.length > 0 ? chance.pick(shown).text : "";
  switch (chance.weighted({ fresh: 7, known: 1, close: 2 })) {
    case "fresh":
      return newText(speaker);
    case "known":
      return known;
    case "close":
      return `${known} again ${speaker.mark}`;
  }
}

const answer = (content: string): ModelReply => callsReply(["new_answer", { content }]);

function vote(situation: Situation, { chance }: Speaker): ModelReply {
  const authors = situation.shown.map(({ alias }) => alias);
  const alias = authors.length > 0 ? chance.pick(authors) : (situation.aliases[0] ?? "agent1");
  return callsReply(["vote", { agent_id: alias, reason: drawText(chance) }]);
}

/** A mistake that models make, such as an unknown alias, several decisions or invalid JSON. */
function mistake(situation: Situation, speaker: Speaker): ModelReply {
  const { chance } = speaker;
  const validVote = vote(situation, speaker).calls;
  switch (chance.int(1, 11)) {
    case 1:
      return callsReply(["vote", { agent_id: "agent99", reason: "the best" }]);
    case 2:
      return callsReply([
        "vote",
        { agent_id: chance.pick([...situation.aliases, "agent1"]), reason: "any" },
      ]);
    case 3:
      return {
        text: "",
        calls: [
          ...validVote,
          ...callsReply(["vote", { agent_id: "agent99", reason: "no" }]).calls,
          ...validVote,
        ],
      };
    case 4:
      return {
        text: "",
        calls: [...answer(newText(speaker)).calls, ...answer(`other ${newText(speaker)}`).calls],
      };
    case 5:
      return { text: "", calls: [...answer(newText(speaker)).calls, ...validVote] };
    case 6:
      return callsReply([
        chance.pick(["new_answer", "vote"]),
        chance.pick(['{"content": "cut', "", "null", "[1]", '{"__proto__": 1}']),
      ]);
    case 7:
      return answer(chance.pick(["", "   ", "\n"]));
    case 8:
      return callsReply([
        "vote",
        {
          agent_id: situation.aliases[0] ?? "agent1",
          reason: chance.is(0.3) ? "because ".repeat(600) : "",
        },
      ]);
    case 9:
      return callsReply(["no_such_tool", { path: "/" }]);
    case 10:
      return textReply('<<<vote agent1>>> {"name": "vote", "arguments": {"agent_id": "agent1"}}');
    default:
      return {
        text: "",
        calls: [
          ...callsReply(["no_such_tool", {}]).calls,
          ...answerOrVote(situation, speaker).calls,
        ],
      };
  }
}
