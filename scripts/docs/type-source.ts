/** Reads the exported types of a TypeScript file, with their comments. Enough for files of plain interfaces and unions. */

export interface Member {
  name: string;
  optional: boolean;
  type: string;
  doc: string;
}
export interface Alternative {
  /** The type's text, comments removed. */
  type: string;
  members: Member[];
  doc: string;
}
export type Declaration =
  | { kind: 'interface'; name: string; doc: string; members: Member[] }
  | { kind: 'union'; name: string; doc: string; alternatives: Alternative[] };

const DECLARATION = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export (interface|type) (\w+)(?: =\s|\s)/g;

export function readDeclarations(source: string): Declaration[] {
  const found: Declaration[] = [];
  for (const match of source.matchAll(DECLARATION)) {
    const [whole, comment = '', keyword = '', name = ''] = match;
    const rest = source.slice(match.index + whole.length);
    const doc = plainText(comment);
    if (keyword === 'interface') found.push({ kind: 'interface', name, doc, members: membersOf(rest.slice(1, closing(rest, 0))) });
    else found.push({ kind: 'union', name, doc, alternatives: alternativesOf(rest.slice(0, endOf(rest, ';'))) });
  }
  return found;
}

function alternativesOf(text: string): Alternative[] {
  return split(text, '|').map((part) => {
    const { doc, rest } = leadingDoc(part);
    const members = rest.startsWith('{') ? membersOf(rest.slice(1, closing(rest, 0))) : [];
    return { doc, type: oneLine(rest), members };
  });
}

function membersOf(text: string): Member[] {
  return split(text, ';').flatMap((part) => {
    const { doc, rest } = leadingDoc(part);
    const match = /^(\w+)(\??):\s*([\s\S]+)$/.exec(rest);
    return match ? [{ name: match[1] ?? '', optional: match[2] === '?', type: oneLine(match[3] ?? ''), doc }] : [];
  });
}

function leadingDoc(text: string): { doc: string; rest: string } {
  const match = /^\s*\/\*\*((?:(?!\*\/)[\s\S])*)\*\/([\s\S]*)$/.exec(text);
  // Biome puts the comment of a union's member before its bar.
  return match ? { doc: plainText(match[1] ?? ''), rest: (match[2] ?? '').trim().replace(/^\|\s*/, '') } : { doc: '', rest: text.trim() };
}

function plainText(comment: string): string {
  return comment
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, ''))
    .join('\n')
    .trim();
}

function oneLine(type: string): string {
  return type
    .replace(/\/\*\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/; \}/g, ' }')
    .trim();
}

/** Parts between separators at depth 0. A comment belongs to the part that follows it. */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let pending = '';
  walk(text, (at, depth) => {
    if (depth !== 0 || text[at] !== separator) return false;
    const part = pending + text.slice(start, at);
    start = at + 1;
    // Only a comment so far: keep it for the part after the bar.
    if (separator === '|' && withoutComments(part) === '') pending = part;
    else {
      parts.push(part);
      pending = '';
    }
    return false;
  });
  parts.push(pending + text.slice(start));
  // A comment at the end of a part describes the next one.
  for (let i = 0; i + 1 < parts.length; i++) {
    const match = /^([\s\S]*?)(\s*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)$/.exec(parts[i] ?? '');
    if (match && withoutComments(match[1] ?? '') !== '') {
      parts[i] = match[1] ?? '';
      parts[i + 1] = `${match[2]}${parts[i + 1]}`;
    }
  }
  return parts.filter((part) => withoutComments(part) !== '');
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').trim();
}

function endOf(text: string, separator: string): number {
  let end = text.length;
  walk(text, (at, depth) => {
    if (depth !== 0 || text[at] !== separator) return false;
    end = at;
    return true;
  });
  return end;
}

function closing(text: string, from: number): number {
  let end = text.length;
  walk(text.slice(from), (at, depth) => {
    if (text[from + at] !== '}' || depth !== 0) return false;
    end = from + at;
    return true;
  });
  return end;
}

/** Visits every character outside strings and comments with its depth; stops when `visit` returns true. */
function walk(text: string, visit: (at: number, depth: number) => boolean): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.startsWith('/*', at)) {
      at = text.indexOf('*/', at) + 1;
      continue;
    }
    const char = text[at] ?? '';
    if (char === "'" || char === '`') {
      at = text.indexOf(char, at + 1);
      continue;
    }
    if ('}])>'.includes(char) && text[at - 1] !== '=') depth--;
    if (visit(at, depth)) return;
    if ('{[(<'.includes(char)) depth++;
  }
}
