/** Where a fault is in a text that is being edited, so that the editor can show it at its line. */

import { jsonLanguage } from '@codemirror/lang-json';
import { isExactNumber } from '@firsthand/core/event/exact-numbers.ts';
import { parseExactly } from '../exact-json.ts';

type Node = ReturnType<typeof jsonLanguage.parser.parse>['topNode'];

export interface Fault {
  field: string;
  message: string;
}
export interface TextFault {
  /** Offset in the text. */
  at: number;
  message: string;
}

/**
 * Faults of a value, at their places in its JSON text. Paths are as the API writes them, `rules[0].target`, and start with `root`, the path of
 * the edited value itself. A path that leads nowhere is placed at the closest value that exists, and the rest of it is part of the message.
 */
export function placeFaults(text: string, faults: readonly Fault[], root = ''): TextFault[] {
  if (faults.length === 0) return [];
  const top = jsonLanguage.parser.parse(text).topNode.firstChild;
  return faults.map(({ field, message }) => {
    const path = (field.startsWith(root) ? field.slice(root.length) : field).replace(/^\./, '');
    const { at, rest } = top === null ? { at: 0, rest: path } : follow(top, text, path);
    return { at, message: rest === '' ? message : `${rest} ${message}` };
  });
}

/** Where the text stops being JSON, or has a number that `JSON.parse` would change. Undefined if it is read to the letter. */
export function syntaxFault(text: string): TextFault | undefined {
  try {
    parseExactly(text);
    return undefined;
  } catch (error) {
    let at = text.trimEnd().length;
    jsonLanguage.parser.parse(text).iterate({
      enter({ type, name, from, to }) {
        if (type.isError || (name === 'Number' && !isExactNumber(text.slice(from, to)))) at = Math.min(at, from);
      },
    });
    return { at, message: error instanceof Error ? error.message : String(error) };
  }
}

/** Messages about code name their line: `line 3: …`. */
export function lineFault(text: string, message: string): TextFault {
  const line = Number(/\bline (\d+)/i.exec(message)?.[1] ?? 1);
  const lines = text.split('\n').slice(0, line - 1);
  return {
    at: Math.min(
      text.length,
      lines.reduce((sum, one) => sum + one.length + 1, 0),
    ),
    message,
  };
}

const VALUES = new Set(['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null']);

function follow(start: Node, text: string, path: string): { at: number; rest: string } {
  let node = start;
  let at = node.from;
  let rest = path;
  while (rest !== '') {
    const next = node.name === 'Array' ? element(node, rest) : node.name === 'Object' ? property(node, text, rest) : undefined;
    if (next === undefined) break;
    at = next.at;
    node = next.value;
    rest = next.rest.replace(/^\./, '');
  }
  return { at, rest };
}

interface Step {
  at: number;
  value: Node;
  rest: string;
}
function element(list: Node, path: string): Step | undefined {
  const index = /^\[(\d+)\]/.exec(path);
  if (index === null) return undefined;
  const value = childrenOf(list).filter(({ name }) => VALUES.has(name))[Number(index[1])];
  return value && { at: value.from, value, rest: path.slice(index[0].length) };
}
/** Names may contain dots and brackets: the longest one that the path begins with is meant. */
function property(object: Node, text: string, path: string): Step | undefined {
  let found: (Step & { length: number }) | undefined;
  for (const one of childrenOf(object)) {
    const [name, ...others] = childrenOf(one);
    if (one.name !== 'Property' || name?.name !== 'PropertyName') continue;
    const key = JSON.parse(text.slice(name.from, name.to)) as string;
    const follows = path.slice(key.length);
    if (!path.startsWith(key) || !['', '.', '['].includes(follows.charAt(0)) || key.length < (found?.length ?? 0)) continue;
    found = { at: one.from, value: others.find((other) => VALUES.has(other.name)) ?? name, rest: follows, length: key.length };
  }
  return found;
}
function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}
