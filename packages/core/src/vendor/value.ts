/** JSON values with references, as definitions write them in `common` and `shape`. */
import { toBase64 } from '../hash/hash.ts';
import { isObject, put } from '../json.ts';
import { isQuotaSpent, mayWrite } from '../value-size.ts';
import { utf8 } from './bytes.ts';
import { compileReference, compileText, lookUpValue, renderText, type Sources, type Text } from './text.ts';

export interface CompiledValue {
  render(sources: Sources): unknown;
  /** Every reference that is left, for the lane key and to know which sources are needed. */
  texts: Text[];
}

/**
 * A string is a text. `{"$ref": "payload.items"}` inserts the value itself, `{"$json": …}` its JSON text, `{"$base64": …}` that text in
 * base64 (with `suffix` behind the JSON text, such as a line break). Empty texts and missing values are left out, then objects and
 * lists that became empty. An object with an empty `$if` is left out.
 */
export function compileValue(value: unknown, parameters: Record<string, unknown>): CompiledValue {
  const texts: Text[] = [];
  return { render: compileNode(value, parameters, texts), texts };
}

type Render = CompiledValue['render'];

function compileNode(value: unknown, parameters: Record<string, unknown>, texts: Text[]): Render {
  if (typeof value === 'string') {
    const text = compileText(value, parameters);
    texts.push(text);
    return (sources) => {
      const rendered = renderText(text, sources);
      return rendered === '' ? undefined : rendered;
    };
  }
  if (Array.isArray(value)) {
    const elements = value.map((element) => compileNode(element, parameters, texts));
    return (sources) => {
      const list: unknown[] = [];
      for (const render of elements) {
        const element = render(sources);
        if (element !== undefined) list.push(element);
      }
      return list.length === 0 ? undefined : list;
    };
  }
  if (isObject(value)) {
    if (typeof value.$ref === 'string') return reference(value.$ref, parameters, texts);
    if (typeof value.$json === 'string') return jsonText(reference(value.$json, parameters, texts));
    if (typeof value.$base64 === 'string') {
      const suffix = typeof value.suffix === 'string' ? value.suffix : '';
      return inBase64(jsonText(reference(value.$base64, parameters, texts)), suffix);
    }
    return object(value, parameters, texts);
  }
  return () => value;
}

function jsonText(inner: Render): (sources: Sources) => string | undefined {
  return (sources) => {
    const text = isQuotaSpent() ? undefined : JSON.stringify(inner(sources));
    return text !== undefined && mayWrite(text.length) ? text : undefined;
  };
}
function inBase64(inner: (sources: Sources) => string | undefined, suffix: string): Render {
  return (sources) => {
    const text = inner(sources);
    return text === undefined ? undefined : toBase64(utf8(text + suffix));
  };
}

function reference(path: string, parameters: Record<string, unknown>, texts: Text[]): Render {
  const [source, ...steps] = path.split('.');
  if (source === 'parameters') {
    const value = lookUpValue(steps, parameters);
    return () => value ?? undefined;
  }
  const { text, part } = compileReference(path);
  texts.push(text);
  const keys = [part.source, ...part.path];
  return (sources) => lookUpValue(keys, sources) ?? undefined;
}

function object(value: Record<string, unknown>, parameters: Record<string, unknown>, texts: Text[]): Render {
  const { $if: condition, ...rest } = value;
  const entries = Object.entries(rest).map(([key, inner]) => [key, compileNode(inner, parameters, texts)] as const);
  const wanted = condition === undefined ? undefined : compileNode(condition, parameters, texts);
  return (sources) => {
    if (wanted && wanted(sources) === undefined) return undefined;
    let filled: Record<string, unknown> | undefined;
    for (const [key, render] of entries) {
      const inner = render(sources);
      if (inner !== undefined) put((filled ??= {}), key, inner);
    }
    return filled;
  };
}
