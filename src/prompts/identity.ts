/** Who an agent is: its role from the config, and the persona it got for this attempt. */
export type Identity = {
  systemMessage: string | null;
  persona: Persona | null;
};

type Persona = {
  text: string;
  /** `soften`: from the first answer on it is one viewpoint among others, not the way to work. */
  strength: "full" | "softened";
};

const DEFAULT_ROLE =
  "You are an expert who solves problems with care: exact, complete, and honest about what is uncertain.";

/** The persona that holds now, if any. */
export function personaFor(
  text: string | null,
  afterFirstAnswer: "drop" | "soften" | "keep",
  hasAnswered: boolean,
): Persona | null {
  if (text === null) return null;
  if (!hasAnswered || afterFirstAnswer === "keep") return { text, strength: "full" };
  return afterFirstAnswer === "soften" ? { text, strength: "softened" } : null;
}

/** The first sections of every system prompt. */
export function identitySections({ systemMessage, persona }: Identity): string[] {
  const role = `# Your role\n\n${systemMessage?.trim() || DEFAULT_ROLE}`;
  return persona ? [role, personaSection(persona)] : [role];
}

function personaSection({ text, strength }: Persona): string {
  const use =
    strength === "full"
      ? "Work on the message from this perspective. It shapes how you approach the task, never whether you are right."
      : "This perspective guided your first answer. Keep it as one viewpoint among others: judge all answers on their merits, and follow whichever way serves the message best.";
  return `# Your perspective\n\n${text.trim()}\n\n${use}`;
}
