import { madeUpArguments } from "../../../simulated/providers/made-up-arguments";
import type { Situation as Asked } from "../../../simulated/providers/situation";
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

type Speaker = {
  chance: Chance;
  has: (habit: Habit) => boolean;
  character: Character;
  mark: string;
  isFirst: boolean;
};

/**
 * Part of every answer, to find where the answer was sent. Derived from the id of the call that
 * wrote it.
 */
export const markOf = (call: string): string =>
  `zq${call.replace("call_", "").replaceAll("_", "x")}zq`;
export const MARK = /zq(\d+)x(\d+)x\d+x[\dx]+zq/g;

/**
 * The simulated model. It sees only its request, and replies the same to the same call of the same
 * run.
 */
export function speak(
  asked: Asked,
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
  const said = replyTo(asked, speaker);
  return asked.asked.hostedTools.includes("web_search")
    ? searched(said, new Chance(seed ^ hash(`search ${call}`)))
    : said;
}

/**
 * The part of a reply that is sent. A cut reply ends within a text or a call, or right after a
 * complete call. Withheld replies contain complete calls, too. A readable call must not count then.
 */
export function sentOf(said: ModelReply, ending: Ending, chance: Chance): ModelReply {
  const { text, calls } = said;
  if (ending !== "length" || (calls.length > 0 && chance.is(0.5))) return said;
  const torn = calls.slice(0, 1).map((one) => ({ ...one, arguments: one.arguments.slice(0, -3) }));
  return { ...said, text: text.slice(0, Math.ceil(text.length / 2)), calls: torn };
}

/** A model that may search the web usually does, and writes some text about the results. */
function searched(said: ModelReply, chance: Chance): ModelReply {
  if (chance.is(0.3)) return said;
  const searches = Array.from({ length: chance.int(1, 4) }, () => {
    const page = chance.int(1, 9);
    return { query: drawText(chance), url: `https://pages.example/${page}`, title: `Page ${page}` };
  });
  return { ...said, text: said.text || (chance.is(0.8) ? drawText(chance) : ""), searches };
}

function replyTo(asked: Asked, speaker: Speaker): ModelReply {
  switch (asked.stage) {
    case "personas":
      return personas(asked, speaker);
    case "judgement":
      return judgement(speaker);
    case "presentation":
      return presentation(asked, speaker);
    case "first_answer":
    case "deciding":
    case "at_limit":
      return decision(asked, speaker);
  }
}

const says = (text: string): ModelReply => ({ text, calls: [] });
const does = (...calls: [string, object | string][]): ModelReply => ({
  text: "",
  calls: calls.map(([name, args]) => ({
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  })),
});

function personas({ asked }: Asked, { chance }: Speaker): ModelReply {
  if (chance.is(0.2)) return says("I would rather not.");
  const tool = asked.tools.find(({ name }) => name === "assign_personas");
  return does(["assign_personas", madeUpArguments(tool?.parameters)]);
}

function judgement({ chance, has }: Speaker): ModelReply {
  const verdict = chance.weighted({
    confirmed: has("strict_judges") ? 1 : 5,
    rejected: has("strict_judges") ? 12 : 4,
    silent: 1,
  });
  if (verdict === "silent") return says("Hm.");
  if (verdict === "confirmed") return does(["submit", { confirmed: true }]);
  return does(["restart_orchestration", { reason: "shallow", instructions: "dig deeper" }]);
}

function presentation(asked: Asked, speaker: Speaker): ModelReply {
  const { chance, has, mark } = speaker;
  if (canWork(asked) && chance.is(0.3)) return work(asked, speaker);
  return says(has("silent_agents") && chance.is(0.3) ? " " : `${drawText(chance)} final ${mark}`);
}

const FILE_WORK = { write: 5, read: 2, peek: 2, copy: 1, remove: 1 };

/** Whether the request offers tools that the model can use. */
const canWork = ({ asked }: Asked): boolean =>
  asked.tools.some(({ name }) => ["write_file", "look_up", "place_order"].includes(name));

/**
 * One to three tool calls: few file names, so that agents meet the same files again, and remote
 * calls.
 */
function work({ shown }: Asked, { chance, has, mark }: Speaker): ModelReply {
  const path = `/workspace/${chance.pick(["a.txt", "b.txt", "deep/er/c.txt"])}`;
  const peer = shown.length > 0 ? `/peers/${chance.pick(shown).alias}` : "/peers";
  const one = (): [string, object] => {
    switch (
      chance.weighted({
        ...(has("tools") && FILE_WORK),
        order: 4,
        look: has("long_results") ? 20 : 3,
      })
    ) {
      case "write":
        return ["write_file", { path, content: `${drawText(chance)} ${mark}` }];
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
  return does(...Array.from({ length: chance.int(1, 3) }, one));
}

function decision(asked: Asked, speaker: Speaker): ModelReply {
  const { chance, has, character } = speaker;
  if (has("silent_agents") && chance.is(0.3))
    return says(chance.is(0.7) ? `${drawText(chance)} ${speaker.mark}` : "");
  if (character === "careless" && chance.is(0.55)) return mistake(asked, speaker);
  if (has("toolish") && chance.is(0.5)) return does(["no_such_tool", { path: "/" }]);
  if (has("endless_tools") && speaker.isFirst && asked.stage !== "first_answer") {
    return canWork(asked) && chance.is(0.3) ? work(asked, speaker) : does(["no_such_tool", {}]);
  }
  if (canWork(asked) && chance.is(has("long_results") ? 0.8 : has("prolific") ? 0.35 : 0.45))
    return work(asked, speaker);
  const said = chance.is(0.3) ? drawText(chance) : "";
  return { ...decided(asked, speaker), text: said };
}

function decided(asked: Asked, speaker: Speaker): ModelReply {
  const { chance, has, character } = speaker;
  if (asked.stage === "first_answer") return answer(fresh(speaker));
  if (has("prolific") && asked.stage === "deciding" && chance.is(0.95))
    return answer(fresh(speaker));
  const votes = chance.is(
    { agreeable: 0.9, improver: 0.55, careless: 0.6, stubborn: 0.1 }[character],
  );
  if (votes || (asked.stage === "at_limit" && chance.is(0.8))) return vote(asked, speaker);
  return answer(nextText(asked, speaker));
}

const fresh = ({ chance, mark }: Speaker): string =>
  `${drawText(chance)} ${drawText(chance)} ${mark}`;

function nextText({ shown }: Asked, speaker: Speaker): string {
  const { chance } = speaker;
  const known = shown.length > 0 ? chance.pick(shown).text : "";
  switch (chance.weighted({ fresh: 7, known: 1, close: 2 })) {
    case "fresh":
      return fresh(speaker);
    case "known":
      return known;
    case "close":
      return `${known} again ${speaker.mark}`;
  }
}

const answer = (content: string): ModelReply => does(["new_answer", { content }]);

function vote(asked: Asked, { chance }: Speaker): ModelReply {
  const answered = asked.shown.map(({ alias }) => alias);
  const alias = answered.length > 0 ? chance.pick(answered) : (asked.aliases[0] ?? "agent1");
  return does(["vote", { agent_id: alias, reason: drawText(chance) }]);
}

/** Mistakes that models make. */
function mistake(asked: Asked, speaker: Speaker): ModelReply {
  const { chance } = speaker;
  const some = vote(asked, speaker).calls;
  switch (chance.int(1, 11)) {
    case 1:
      return does(["vote", { agent_id: "agent99", reason: "the best" }]);
    case 2:
      return does(["vote", { agent_id: chance.pick([...asked.aliases, "agent1"]), reason: "any" }]);
    case 3:
      return {
        text: "",
        calls: [...some, ...does(["vote", { agent_id: "agent99", reason: "no" }]).calls, ...some],
      };
    case 4:
      return {
        text: "",
        calls: [...answer(fresh(speaker)).calls, ...answer(`other ${fresh(speaker)}`).calls],
      };
    case 5:
      return { text: "", calls: [...answer(fresh(speaker)).calls, ...some] };
    case 6:
      return does([
        chance.pick(["new_answer", "vote"]),
        chance.pick(['{"content": "cut', "", "null", "[1]", '{"__proto__": 1}']),
      ]);
    case 7:
      return answer(chance.pick(["", "   ", "\n"]));
    case 8:
      return does([
        "vote",
        {
          agent_id: asked.aliases[0] ?? "agent1",
          reason: chance.is(0.3) ? "because ".repeat(600) : "",
        },
      ]);
    case 9:
      return does(["no_such_tool", { path: "/" }]);
    case 10:
      return says('<<<vote agent1>>> {"name": "vote", "arguments": {"agent_id": "agent1"}}');
    default:
      return {
        text: "",
        calls: [...does(["no_such_tool", {}]).calls, ...decided(asked, speaker).calls],
      };
  }
}
