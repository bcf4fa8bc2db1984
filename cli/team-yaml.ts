import { CliError, EXIT } from "./exit-codes";

/** Text that YAML reads as itself without quotes. */
const PLAIN = /^[A-Za-z][\w./-]*$/;
const scalar = (text: string): string =>
  PLAIN.test(text) && !/^(true|false|null|yes|no|on|off)$/i.test(text)
    ? text
    : JSON.stringify(text);

/** A team of these models as a file to begin with; without `backend` their names say whose they are. Throws CliError for none. */
export function teamYaml(models: readonly string[], backend: string | undefined): string {
  if (models.length === 0) throw new CliError(EXIT.config, "A team needs a model.");
  const type = backend === undefined ? "" : `      type: ${scalar(backend)}\n`;
  const agents = models.map(
    (model, index) =>
      `  - id: agent_${index + 1}\n    backend:\n${type}      model: ${scalar(model)}\n`,
  );
  return `# The team that answers in this folder, in MassGen's grammar.\n\nagents:\n${agents.join("\n")}
timeout_settings:
  orchestrator_timeout_seconds: 600
`;
}

/** Comments that hold only where the original lies: the schema that editors look for beside it, and how to ask it by its path. */
const OF_THE_ORIGINAL = [
  /^# yaml-language-server:.*\r?\n/m,
  /^#\r?\n# +npm run ask -- --config configs\/.*\r?\n/m,
];

/** A team of the service as a file of one's own. */
export const copiedTeam = (yaml: string): string =>
  OF_THE_ORIGINAL.reduce((text, comment) => text.replace(comment, ""), yaml);
