import { byStage, call, newAnswer, vote } from "../../simulated/providers/scripts";
import type { Script } from "../../simulated/providers/reply";
import type { TeamEdit } from "./predict-ask";
import { TeamEditsSchema } from "./schema";

/** The question of a turn whose team makes these edits. */
export const questionOf = (edits: readonly TeamEdit[], isFailing: boolean): string =>
  `${isFailing ? "Fail." : "Edit."} ${JSON.stringify(edits)}`;

/**
 * A model that makes the edits of its question in its presentation, one command each. If the
 * question asks for it, the provider refuses every request, so that the turn fails.
 */
export const editsAsAsked: Script = (situation) => {
  const [, order, text] = /(Fail|Edit)\. (\[.*\])/s.exec(situation.question) ?? [];
  if (order === "Fail") return { fail: { status: 401, message: "refused by the history" } };
  const edits = TeamEditsSchema.parse(JSON.parse(text ?? "[]"));
  return byStage({
    answering: () => newAnswer("The files are changed."),
    deciding: (deciding) => vote(deciding),
    presenting: ({ callIndex }) => {
      const edit = edits[callIndex];
      return edit ? call("run_command", { command: commandOf(edit) }) : { text: "Done." };
    },
  })(situation);
};

/** A shell command that makes an edit. Files must be read before they may be deleted. */
function commandOf({ context, path, contents }: TeamEdit): string {
  const remove = (target: string) =>
    `if [ -d ${target} ]; then cat ${target}/* > /dev/null; rm -r ${target}; elif [ -f ${target} ]; then cat ${target} > /dev/null; rm ${target}; fi`;
  const parents = path.split("/").slice(0, -1);
  const folders = parents.map((_, depth) => parents.slice(0, depth + 1).join("/"));
  const steps =
    contents === null
      ? [`if [ -f ${path} ]; then cat ${path} > /dev/null; rm ${path}; fi`]
      : [
          ...folders.map((folder) => `if [ -f ${folder} ]; then ${remove(folder)}; fi`),
          `if [ -d ${path} ]; then ${remove(path)}; fi`,
          ...(folders.length > 0 ? [`mkdir -p ${folders.at(-1)}`] : []),
          `printf '%b' '${contents.replaceAll("\n", String.raw`\n`)}' > ${path}`,
        ];
  return [`cd /contexts/${context}`, ...steps].join("\n");
}
