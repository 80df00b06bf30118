/** A path that may take a new line after its dots. */
export const breakable = (path: string): string => path.replaceAll('.', '.\u200b');
