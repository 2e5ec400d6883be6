import type { DependencyContainer, InjectionToken } from 'tsyringe';

declare const provides: unique symbol;

/** A name in the container that knows what stands under it: a wrong registration does not compile. */
export type Token<T> = symbol & { readonly [provides]?: T };

export function token<T>(description: string): Token<T> {
  return Symbol(description);
}

/** Registers what `make` makes, once, when it is first asked for. */
export function provide<T>(container: DependencyContainer, name: Token<T>, make: (get: Get) => T): void {
  let made: { readonly value: T } | undefined;
  container.register<T>(name as InjectionToken<T>, {
    useFactory: (inner) => {
      made ??= { value: make(getter(inner)) };
      return made.value;
    },
  });
}

/** Registers in one container. */
export type Bind = <T>(name: Token<T>, make: (get: Get) => T) => void;

export type Get = <T>(name: Token<T>) => T;

export function getter(container: DependencyContainer): Get {
  return <T>(name: Token<T>) => container.resolve<T>(name as InjectionToken<T>);
}
