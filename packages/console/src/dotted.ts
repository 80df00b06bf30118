/** `variables[2].target`, as the API names a field of a list, as a form does: `variables.2.target`. */
export const dotted = (field: string): string => field.replace(/\[(\d+)\]/g, '.$1');
