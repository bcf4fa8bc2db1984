import type { Problem } from "./source";

/** Prints the findings of a check, and sets the exit code to 1 if there are any. */
export function report(name: string, files: number, problems: Problem[]): void {
  for (const { path, line, message } of problems) console.error(`${path}:${line} ${message}`);
  console.log(
    `${name}: ${files} files, ${problems.length === 0 ? "nothing found" : `${problems.length} problems`}`,
  );
  if (problems.length > 0) process.exitCode = 1;
}
