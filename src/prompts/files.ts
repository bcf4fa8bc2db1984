/** Facts for the file instructions of an agent. */
export type FilesPrompt = {
  /** Whether the agent has a shell. */
  shell: boolean;
  /** Whether its commands can access more than its files. Omitted: false. */
  actsOutside?: boolean;
  /** Whether the agent has a to-do list. Omitted: false. */
  tasks?: boolean;
};

/**
 * An uploaded directory. With `access` `later`, only the presenter may change it. `protectedPaths`
 * are the paths in it that no agent may change.
 */
export type ContextPrompt = {
  name: string;
  access: "read" | "later" | "write";
  protectedPaths: readonly string[];
};

/**
 * File instructions during coordination. They are the same in all rounds and turns, and they do not
 * reveal which files belong to which agent.
 */
export function workspaceSection(files: FilesPrompt): string {
  return `# Files

- \`/workspace\` is yours alone: build what the message asks for there, and test it. Paths that begin with no slash start there.
- \`/peers/agent1\`, \`/peers/agent2\` and so on hold, read-only, the files as they were with each answer that you were shown. Look at them before you judge an answer by what it says; yours lie among them.
- With each \`new_answer\` your workspace is kept as it is then, and the others see it. Name the files in your answer, by their paths below \`/workspace\`, and say how to use them.
- After an answer you start from the beginning again, with the files the message came with. To build on an answer, yours or another's, copy its files from \`/peers\`.${taskLine(files)}${shellLine(files)}`;
}

/** File instructions for the presenter of a team. */
export function presenterFilesSection(files: FilesPrompt): string {
  return `# Files

Your workspace, \`/workspace\`, holds the files of the answer that was chosen; the files of the other answers lie read-only below \`/peers\`. What \`/workspace\` holds when you are done is what the user gets, so mend and complete it there, and name the files that matter in your reply.${taskLine(files)}${shellLine(files)}`;
}

/** File instructions for a single agent, which presents without coordination. */
export function ownFilesSection(files: FilesPrompt): string {
  return `# Files

What \`/workspace\` holds when you are done is what the user gets: build it there, test it, and name the files that matter in your reply.${taskLine(files)}${shellLine(files)}`;
}

function taskLine({ tasks = false }: FilesPrompt): string {
  if (!tasks) return "";
  return "\n- You have a to-do list of your own. For work of several steps make one with `create_task_plan` first, say with `update_task_status` what you begin and what is completed, and see with `get_ready_tasks` what comes next. Nobody else sees it, and it is gone with the round: your answer must say what counts.";
}

/**
 * One line for each of the user's uploads that the agent sees; "" if there are none. Turns see
 * different uploads, so the lines are part of the message and not of the system prompt.
 */
export function contextLines(contexts: readonly ContextPrompt[]): string {
  return contexts
    .map(
      (context) =>
        `- \`/contexts/${context.name}\` was given by the user. ${accessLine(context)}${protectedLine(context)}`,
    )
    .join("\n");
}

function accessLine({ access }: ContextPrompt): string {
  switch (access) {
    case "read":
      return "It is read-only: copy into `/workspace` what you want to change.";
    case "later":
      return "It is read-only while the team coordinates; whoever writes the final reply may change it. Copy into `/workspace` what should change there, change it and test it, and say in your answer which files belong where.";
    case "write":
      return "You may change it, now: make the changes that the message asks for there and not only in `/workspace`. They are handed to the user as a change set against what was given.";
  }
}

/** Further protected paths are not listed. A change of them is refused like any other. */
const MAX_LISTED_PATHS = 20;

function protectedLine({ access, protectedPaths }: ContextPrompt): string {
  if (access === "read" || protectedPaths.length === 0) return "";
  const listedPaths = protectedPaths.slice(0, MAX_LISTED_PATHS).map((path) => `\`${path}\``);
  const more = protectedPaths.length - listedPaths.length;
  return ` Nobody may change what is protected in it: ${listedPaths.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
}

function shellLine({ shell, actsOutside }: FilesPrompt): string {
  if (!shell) return "";
  const reach = actsOutside
    ? "It may reach a network: what a command does there stays done, also if the command fails."
    : "It has no network.";
  return `\n- \`run_command\` runs a shell over the same files. ${reach}`;
}
