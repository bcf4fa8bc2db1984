import { randomUUID } from "node:crypto";
import type { HostedStep, Reply, Script } from "../../simulated/providers/reply";
import type { Situation } from "../../simulated/providers/situation";
import { worksOnFiles } from "../../simulated/providers/coding";
import { PUSHED_AS } from "../../tests/config/samples";

/**
 * A model that uses each kind of offered tool once per conversation, before it answers, votes or
 * presents.
 */

/** The file that every agent writes in its workspace. */
export const REPORT = {
  path: "report.md",
  content: "# What there is\n\nAll that was asked for.\n",
};
/** The file that the test pushes before the run. */
export const PUSHED_FILE = { path: "notes.md", content: "To be worked on.\n" };
/** The file that the presenter writes among the pushed files. */
export const PRESENTER_FILE = { path: "done.md", content: "It is done.\n" };
export const FINAL_ANSWER = "Presented: all that was asked for is there.";

/** The path of a pushed file, as agents see it. */
const contextPath = (file: string): string => `/contexts/${PUSHED_AS}/${file}`;

const HOSTED_STEPS: readonly HostedStep[] = [
  { name: "web_search", input: "what there is", output: "A page that says so." },
  { name: "x_search", input: "what there is", output: "A post that says so." },
  { name: "code_execution", input: "print(6 * 7)", output: "42\n" },
];

type Step = readonly [tool: string, args: Record<string, unknown>];

const hasContext = ({ asked: { messages } }: Situation): boolean =>
  messages[0]?.text.includes(`\`/contexts/${PUSHED_AS}\` was given by the user`) ?? false;

/**
 * An agent's tool calls, for the tools that its config offers. `furtherSteps` are the calls that
 * only a presenter makes.
 */
function stepsOf(
  situation: Situation,
  furtherSteps: readonly Step[] = [],
): [string, Record<string, unknown>][] {
  const { offers } = situation;
  const servers = offers.filter((name) => /^mcp__.+__echo$/.test(name));
  const steps: Step[] = [
    ["write_file", REPORT],
    ["read_file", { path: hasContext(situation) ? contextPath(PUSHED_FILE.path) : REPORT.path }],
    ["run_command", { command: `cat ${REPORT.path}` }],
    ...servers.map((name): Step => [name, { message: "Is anybody there?" }]),
    ...furtherSteps,
  ];
  return steps.filter(([name]) => offers.includes(name)).map(([name, args]) => [name, { ...args }]);
}

/** The presenter's further steps. Only the presenter may write to the pushed files. */
const presenterSteps = (situation: Situation): Step[] =>
  hasContext(situation)
    ? [["write_file", { ...PRESENTER_FILE, path: contextPath(PRESENTER_FILE.path) }]]
    : [];

/** Uses every offered tool, then answers and votes like a cooperative team member. */
export const usesEveryTool: Script = async (situation) => {
  const steps = stepsOf(situation);
  const work = worksOnFiles({
    first: steps,
    // Unique: an agent that would repeat another's answer must vote for it instead.
    answer: `All that was asked for is there, and this is my word for it: ${randomUUID()}.`,
    beforeVote: steps,
    last: stepsOf(situation, presenterSteps(situation)),
    final: { text: FINAL_ANSWER },
  });
  const reply: Reply = await work(situation);
  return situation.callIndex === 0 ? { ...reply, hosted: [...HOSTED_STEPS] } : reply;
};
