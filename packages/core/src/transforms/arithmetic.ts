/** Shared by the transforms that take two numbers. */
import { defineTransform, type Transform, type TransformExample } from './define.ts';
import { asNumber, tidy } from './values.ts';

interface Operation {
  examples: readonly TransformExample[];
  calculate(value: number, by: number): number;
}

/** There is no result unless both operands are numbers. */
export function arithmetic(name: string, summary: string, operand: string, { examples, calculate }: Operation): Transform {
  return defineTransform({
    name,
    summary,
    args: [{ name: 'by', type: 'number', summary: operand }],
    examples,
    apply(value, [by]) {
      const [left, right] = [asNumber(value), asNumber(by)];
      return left === undefined || right === undefined ? undefined : tidy(calculate(left, right));
    },
  });
}
