import type { OutsideCheck } from "./outside";
import { ancestorsOf, COMPACTION, type PastTurn, turnsOf } from "./past-turns";
import type { PromptBeginning, ReceivedRequest } from "./received-request";

/**
 * An agent's prompts of a turn begin with those of the turn that its turn continues, so that the
 * provider reads them from its cache. In this order: tools, system text, the text before the
 * history, and the history block by block.
 */
export const stablePrefixes: OutsideCheck = ({ tree, log, platform, setup }) => {
  if (!tree) return [];
  const turns = turnsOf(log);
  const compactions = new Set(
    log.flatMap((event) => (event.type === "call.started" && event.compacts ? [event.call] : [])),
  );
  const varying = new Set(
    setup.team.rules.agents.flatMap(({ tool_servers, hosted_tools }, index) =>
      tool_servers || hosted_tools ? [index] : [],
    ),
  );
  const [beginnings, histories] = [new Earlier<PromptBeginning>(), new Earlier<string[]>()];
  return platform.providers.received.flatMap((request) => {
    const { kind, stage, agent, call, body, beginning } = request;
    if (kind !== "reply" || stage === null || beginning === null) return [];
    if (compactions.has(call) || body.includes(COMPACTION)) return [];
    const turn = Number(call.split("_")[1]);
    const { team } = turns.get(turn) ?? {};
    const tools = varying.has(agent) || isAtLimit(request) ? beginning.names : "all";
    const place = { turn, ancestors: ancestorsOf(turn, turns) };
    const known = beginnings.replace([agent, stage, team, tools].join(" "), place, beginning);
    return [
      ...(known ? beginningProblems(beginning, known.value, known.turn) : []),
      ...historyProblems({ request, turns, histories }, place),
    ].map((problem) => `${call}: ${problem}`);
  });
};

/** The latest value of each key and turn. */
class Earlier<Value> {
  readonly #values = new Map<string, Map<number, Value>>();

  /** Stores the value of a turn. Returns that of the nearest of the turns that it continues. */
  replace(key: string, { turn, ancestors }: Place, value: Value) {
    const ofKey = this.#values.get(key) ?? new Map<number, Value>();
    this.#values.set(key, ofKey);
    ofKey.set(turn, value);
    for (const one of ancestors) {
      const known = ofKey.get(one);
      if (known !== undefined) return { turn: one, value: known };
    }
    return null;
  }
}

type Place = { turn: number; ancestors: readonly number[] };

function beginningProblems(
  { tools, system, announcement }: PromptBeginning,
  known: PromptBeginning,
  turn: number,
): string[] {
  return [
    ...(tools === known.tools ? [] : [`its tools are not those of turn ${turn}`]),
    ...(system === known.system ? [] : [`its system text is not that of turn ${turn}`]),
    ...(announcement === known.announcement
      ? []
      : [`the text before its history is not that of turn ${turn}`]),
  ];
}

/**
 * Without calls or time, a round has only coordination tools. This text is in no other message,
 * because models do not repeat what they read.
 */
const isAtLimit = ({ body }: ReceivedRequest): boolean =>
  body.includes("Your own tools are no longer available.");

/** A new summary begins another history, and cut texts may differ in each turn. */
function historyProblems(
  {
    request: { agent, stage, body },
    turns,
    histories,
  }: {
    request: ReceivedRequest;
    turns: ReadonlyMap<number, PastTurn>;
    histories: Earlier<string[]>;
  },
  place: Place,
): string[] {
  if (stage === "summary") return [];
  const blocks = historyBlocksIn(body);
  const known = histories.replace(`${agent} ${stage}`, place, blocks);
  if (!known || !isComparable(turns.get(place.turn), turns.get(known.turn))) return [];
  return known.value.every((block, index) => blocks[index] === block)
    ? []
    : [`its history does not begin with that of turn ${known.turn}`];
}

/** Whether two turns show the same turns in full. */
const isComparable = (one: PastTurn | undefined, other: PastTurn | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  !one.isCut &&
  !other.isCut &&
  one.summarised.size === other.summarised.size;

/** The blocks of the history in the JSON of a request. */
const historyBlocksIn = (body: string): string[] =>
  [...body.matchAll(/<<<(\S+) (HISTORY \d+(?: TO \d+)?)>>>.*?<<<\1 END \2>>>/gs)].map(
    ([block]) => block,
  );
