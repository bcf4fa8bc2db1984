import type { AIMessageChunk } from "@langchain/core/messages";
import { Annotation, END, Send, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";

/**
 * A team of LangGraph.js: N agents answer, N agents vote, and the winner presents. Started with the
 * base URL of the models and the number of agents. Plays one run for each message of its parent and
 * answers with the wall time. Node runs this file without a bundler, so that its packages are those
 * of this folder.
 */
type Message = { role: "system" | "user"; content: string };
type Tool = { type: "function"; function: { name: string; parameters: object } };
type Answer = { alias: string; model: string; text: string };
/** The input of one agent's node. */
type Seat = { alias: string; model: string; question: string; answers: Answer[] };

const appended = <Item>() => ({
  reducer: (left: Item[], right: Item[]): Item[] => [...left, ...right],
  default: (): Item[] => [],
});

const Team = Annotation.Root({
  question: Annotation<string>(),
  models: Annotation<string[]>(),
  answers: Annotation<Answer[]>(appended()),
  /** The alias for which each agent votes. */
  votes: Annotation<string[]>(appended()),
  presentation: Annotation<string>(),
});
type State = typeof Team.State;

const [baseURL = "", agents = "0"] = process.argv.slice(2);
const models = Array.from({ length: Number(agents) }, (_, nth) => `bench-${nth + 1}`);
const clients = new Map(
  models.map((model) => {
    const options = { model, apiKey: "simulated", maxRetries: 0, configuration: { baseURL } };
    return [model, new ChatOpenAI(options)];
  }),
);

function clientOf(model: string): ChatOpenAI {
  const client = clients.get(model);
  if (!client) throw new Error(`There is no model ${model}.`);
  return client;
}

const toolNamed = (name: string, properties: Record<string, object>): Tool => ({
  type: "function",
  function: {
    name,
    parameters: { type: "object", properties, required: Object.keys(properties) },
  },
});
const NEW_ANSWER = toolNamed("new_answer", { content: { type: "string" } });
const voteAmong = (answers: readonly Answer[]): Tool => {
  const aliases = answers.map(({ alias }) => alias);
  return toolNamed("vote", {
    agent_id: { type: "string", enum: aliases },
    reason: { type: "string" },
  });
};

const SYSTEM = "You are one of several agents that answer a question together.";
function promptOf({ question, answers }: Pick<Seat, "question" | "answers">): Message[] {
  const shown = answers.map(({ alias, text }) => `Answer of ${alias}:\n${text}`);
  return [
    { role: "system", content: SYSTEM },
    { role: "user", content: [question, ...shown].join("\n\n") },
  ];
}

/** Reads the whole stream and joins its chunks. */
async function wholeReply(stream: Promise<AsyncIterable<AIMessageChunk>>): Promise<AIMessageChunk> {
  let reply: AIMessageChunk | null = null;
  for await (const chunk of await stream) reply = reply === null ? chunk : reply.concat(chunk);
  if (reply === null) throw new Error("A model sent no chunk.");
  return reply;
}

/** An argument of the reply's first tool call. */
function argumentOf({ tool_calls: [call] = [] }: AIMessageChunk, name: string): string {
  const value = call?.args[name];
  if (typeof value !== "string") throw new Error(`A reply has no argument ${name}.`);
  return value;
}

async function answer(seat: Seat): Promise<Partial<State>> {
  const { alias, model } = seat;
  const client = clientOf(model).bindTools([NEW_ANSWER]);
  const reply = await wholeReply(client.stream(promptOf(seat)));
  return { answers: [{ alias, model, text: argumentOf(reply, "content") }] };
}

async function vote(seat: Seat): Promise<Partial<State>> {
  const client = clientOf(seat.model).bindTools([voteAmong(seat.answers)]);
  const reply = await wholeReply(client.stream(promptOf(seat)));
  return { votes: [argumentOf(reply, "agent_id")] };
}

async function present({ question, answers, votes }: State): Promise<Partial<State>> {
  const ballots = Map.groupBy(votes, (alias) => alias);
  const [winner = ""] = [...ballots.keys()].sort(
    (a, b) => (ballots.get(b)?.length ?? 0) - (ballots.get(a)?.length ?? 0),
  );
  const { model = "" } = answers.find(({ alias }) => alias === winner) ?? {};
  const reply = await wholeReply(clientOf(model).stream(promptOf({ question, answers })));
  return { presentation: String(reply.content) };
}

/** One task of the node for each agent. */
const toEachAgent =
  (node: string) =>
  ({ models, question, answers }: State) =>
    models.map((model, nth) => new Send(node, { alias: aliasOf(nth), model, question, answers }));
const aliasOf = (nth: number): string => `agent${nth + 1}`;

const graph = new StateGraph(Team)
  .addNode("answer", answer)
  .addNode("collect", () => ({})) // Runs once, when all agents have answered.
  .addNode("vote", vote)
  .addNode("present", present)
  .addConditionalEdges(START, toEachAgent("answer"), ["answer"])
  .addEdge("answer", "collect")
  .addConditionalEdges("collect", toEachAgent("vote"), ["vote"])
  .addEdge("vote", "present")
  .addEdge("present", END)
  .compile();

async function play(): Promise<number> {
  const startedAt = performance.now();
  const { presentation, votes } = await graph.invoke({
    question: "How much time does the framework itself take?",
    models,
  });
  const wallMs = performance.now() - startedAt;
  if (presentation === "" || votes.length !== models.length)
    throw new Error("The run is not complete.");
  return wallMs;
}

process.on("message", () => {
  play().then(
    (value) => process.send?.({ value }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit());
