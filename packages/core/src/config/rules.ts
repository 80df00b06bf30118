/** Conditions and rules, as mappings, transformations and routing use them. */
export type Condition =
  | { field: string; op: ConditionOp; value?: unknown }
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition };
export type ConditionOp =
  | 'eq'
  | 'ne'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'in'
  | 'not_in'
  | 'contains'
  | 'starts_with'
  | 'ends_with'
  | 'matches'
  | 'exists'
  | 'not_exists';

export interface TransformUse {
  name: string;
  args?: unknown[];
}
export type Rule =
  | { type: 'set'; target: string; value: unknown; condition?: Condition }
  | { type: 'rename'; source: string; target: string; condition?: Condition }
  | { type: 'delete'; target: string; condition?: Condition }
  | {
      type: 'map';
      source: string | string[];
      target: string;
      transforms?: (string | TransformUse)[];
      value_map?: Record<string, unknown>;
      default?: unknown;
      condition?: Condition;
    }
  | { type: 'filter'; condition: Condition }
  | { type: 'compute'; target: string; expression: string; condition?: Condition };
