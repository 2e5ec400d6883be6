/** A metric in an expression of PromQL, with the labels that the expression expects of it. */
interface NamedMetric {
  readonly metric: string;
  readonly labels: readonly string[];
}

const WORDS = ['and', 'or', 'unless', 'by', 'without', 'on', 'ignoring', 'offset', 'bool', 'Inf', 'NaN'];

/**
 * Returns the metrics of an expression, and the labels by which it groups. It knows the PromQL of this project, not
 * all of PromQL.
 */
export function metricsIn(expression: string): { metrics: readonly NamedMetric[]; groups: readonly string[] } {
  // Texts first, because they may contain anything. Variables of Grafana are values.
  const plain = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/\[[^\]]*\]/g, '');
  const groups = [...plain.matchAll(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  );
  const ungrouped = plain.replaceAll(/\b(?:by|on|without|ignoring)\s*\([^)]*\)/g, ' ');
  const metrics = [...ungrouped.matchAll(/\b([a-zA-Z_:][\w:]*)\b(?!\s*\()\s*(?:\{([^}]*)\})?/g)]
    .filter(([, name = '']) => !WORDS.includes(name))
    .filter(({ index }) => !isInBraces(ungrouped, index))
    .map(([, metric = '', matchers = '']) => ({
      metric,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }));
  return { metrics, groups };
}

function isInBraces(text: string, index: number): boolean {
  return text.lastIndexOf('{', index - 1) > text.lastIndexOf('}', index - 1);
}
