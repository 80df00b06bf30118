import { readdirSync, readFileSync } from 'node:fs';
import { generatedFrom, type Page, table } from './page.ts';

const FOLDER = new URL('../../docs/decisions/', import.meta.url);
const SECTIONS = ['Context', 'Decision', 'Consequences'];

interface Decision {
  number: string;
  title: string;
  status: string;
  date: string;
}

/** Reads a decision that follows the template; throws with the file's name where it does not. */
export function readDecision(file: string, text: string): Decision {
  const match = /^# (\d{4}): (.+)\n\n- Status: (proposed|accepted|superseded by \d{4})\n- Date: (\d{4}-\d\d-\d\d)\n/.exec(text);
  const [, number, title, status, date] = match ?? [];
  if (number === undefined || title === undefined || status === undefined || date === undefined || !file.startsWith(`${number}-`))
    throw new Error(`docs/decisions/${file}: expected the head of the template in docs/decisions/README.md`);
  const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  if (sections.join() !== SECTIONS.join())
    throw new Error(`docs/decisions/${file}: expected the sections ${SECTIONS.join(', ')}, found ${sections.join(', ')}`);
  return { number, title, status, date };
}

export function decisionPages(): Page[] {
  const files = readdirSync(FOLDER)
    .filter((file) => /^\d{4}-.*\.md$/.test(file))
    .sort();
  const rows = files.map((file) => {
    const { number, title, status, date } = readDecision(file, readFileSync(new URL(file, FOLDER), 'utf8'));
    return [`[${number}](${file})`, title, status, date];
  });
  const text = `${generatedFrom('the files of this folder')}# Decisions

One file per decision, numbered in order: \`NNNN-short-title.md\`. When a decision is overtaken, write a new one and set the old one's
status to \`superseded by NNNN\`. \`node scripts/generate-docs.ts\` updates the index below.

${table(['number', 'decision', 'status', 'date'], rows)}

## Template

\`\`\`markdown
# 0042: What was decided, in one line

- Status: accepted
- Date: 2026-11-16

## Context

The problem, the constraints and the measurements.

## Decision

What we do, in the present tense.

## Consequences

What gets better, what it costs, what to watch. Rejected alternatives, each with its reason.
\`\`\`

\`Status\` is \`proposed\`, \`accepted\` or \`superseded by NNNN\`. Use headings of the third level (\`###\`) inside a section.
`;
  return [{ file: 'docs/decisions/README.md', text }];
}
