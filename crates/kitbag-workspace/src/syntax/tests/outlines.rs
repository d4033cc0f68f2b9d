//! The outline of a small source in each language, to be read like a prompt.

use super::{FIXTURES, View, parse};
use crate::language::Language;
use crate::syntax::grammar;

fn outlined(language: Language) -> String {
    let (_, text) = FIXTURES
        .iter()
        .find(|fixture| fixture.0 == language)
        .expect("a fixture of every language");
    let syntax = parse(language, text);
    View::new(text, &syntax).outline().unwrap().content
}

#[test]
fn p08_outlines_still_parse() {
    let mut unsound = Vec::new();
    for (language, text) in FIXTURES {
        let Some(grammar) = grammar::of(language) else {
            continue;
        };
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&grammar.language).unwrap();
        let mut is_sound = |text: &str| {
            let tree = parser.parse(text, None).unwrap();
            !tree.root_node().has_error()
        };
        let text = crate::syntax::macros::hidden(text);
        let fixture = is_sound(&text);
        let outline = outlined(language);
        let outline = crate::syntax::macros::hidden(&outline);
        if !fixture || !is_sound(&outline) {
            unsound.push(language);
        }
    }
    assert_eq!(unsound, []);
}

#[test]
fn p08_what_is_broken_stays_and_spoils_nothing_else() {
    let text = "class A:\n    def a(x):\n        one(\n        two]\n        three\n        four\n\n    def b(y) -> int:\n        one\n        two\n        three\n        four\n";
    let syntax = parse(Language::Python, text);
    let outline = View::new(text, &syntax).outline().unwrap().content;
    insta::assert_snapshot!(outline, @r"
    class A:
        def a(x):
            one(
            two]
            three
            four

        def b(y) -> int:
            # ... (4 lines)
    ");
}

#[test]
fn p08_outline_of_python() {
    insta::assert_snapshot!(outlined(Language::Python), @r#"
    """Keeps track of parcels on their way."""

    from __future__ import annotations

    import asyncio
    from dataclasses import dataclass, field
    from typing import (
        Iterator,
        Protocol,
    )

    from . import errors

    DEFAULT_DEPOT = "Ghent"
    ZONES = {
        # ... (4 lines)
    }


    class Carrier(Protocol):
        """Whoever carries parcels."""

        name: str

        def price(self, weight: float, *, express: bool = False) -> int: ...


    @dataclass(frozen=True)
    class Parcel:
        """One parcel.

        Its weight is in kilograms.
        """

        number: str
        weight: float
        stops: list[str] = field(default_factory=list)

        @property
        def zone(self) -> int:
            """The zone of the last stop."""
            # ... (5 lines)

        @staticmethod
        def parse(
            line: str,
            separator: str = ";",
        ) -> "Parcel":
            # ... (5 lines)


    async def deliver(parcels: Iterator[Parcel], carrier: Carrier) -> int:
        # ... (9 lines)


    def short(x):
        return x


    # ... (5 lines)
    "#);
}

#[test]
fn p08_outline_of_rust() {
    insta::assert_snapshot!(outlined(Language::Rust), @r#"
    //! Keeps track of parcels on their way.

    use std::collections::BTreeMap;
    use std::fmt::{self, Display};

    use crate::errors::ParseError;

    mod stops;

    /// The heaviest parcel, in grams.
    pub const HEAVIEST: u32 = 31_500;

    const ZONES: [(&str, u8); 4] = [
        // ... (4 lines)
    ];

    /// One parcel.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Parcel<'a> {
        /// Its number.
        pub number: &'a str,
        pub weight: u32,
        stops: Vec<String>,
    }

    /// How a parcel travels.
    pub enum Speed {
        Normal,
        Express { surcharge: u32 },
    }

    /// Whoever carries parcels.
    pub trait Carrier {
        /// The price in cents.
        fn price(&self, weight: u32) -> Option<u32>;

        fn name(&self) -> String {
            // ... (4 lines)
        }
    }

    impl<'a> Parcel<'a> {
        /// Reads a parcel from a line.
        ///
        /// Fails if the weight is no number.
        #[must_use]
        pub fn parse<S>(line: &'a str, separator: S) -> Result<Self, ParseError>
        where
            S: Into<char>,
        {
            // ... (9 lines)
        }

        fn is_heavy(&self) -> bool {
            self.weight > HEAVIEST
        }
    }

    impl Display for Parcel<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            // ... (5 lines)
        }
    }

    macro_rules! parcels {
        // ... (8 lines)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn reads_a_line() {
            // ... (4 lines)
        }
    }
    "#);
}

#[test]
fn p08_outline_of_javascript() {
    insta::assert_snapshot!(outlined(Language::JavaScript), @r#"
    'use strict';

    const path = require('path');
    const { readFile } = require('./files');

    import { format } from './format.js';
    import carriers, * as prices from './carriers';

    export { Depot } from './depot';

    /** The heaviest parcel, in grams. */
    export const HEAVIEST = 31500;

    const ZONES = {
      // ... (4 lines)
    };

    /**
     * One parcel.
     */
    export default class Parcel extends Base {
      static count = 0;
      #stops = [];

      constructor(number, weight) {
        // ... (4 lines)
      }

      get heavy() {
        return this.weight > HEAVIEST;
      }

      async *travel({ express = false } = {}) {
        // ... (4 lines)
      }
    }

    /** Reads parcels from a file. */
    export const parse = async (file, separator = ';') => {
      // ... (6 lines)
    };

    const double = (x) => x * 2;

    function deliver(parcels, done) {
      // ... (5 lines)
    }

    deliver.later = function (parcels) {
      setTimeout(() => deliver(parcels, format), 0);
    };

    module.exports.tools = {
      weigh(parcel) {
        return parcel.weight;
      },
      price: function (parcel) {
        // ... (4 lines)
      },
    };

    // ... (6 lines)
    "#);
}

#[test]
fn p08_outline_of_typescript() {
    insta::assert_snapshot!(outlined(Language::TypeScript), @r#"
    import type { Carrier } from './carrier';
    import { inject, Injectable as Service } from '@depot/core';

    export type Zone = 'near' | 'far';

    /** What a label says. */
    export interface Label<T extends Zone = Zone> {
      readonly number: string;
      zone: T;
      print(to: string, copies?: number): Promise<void>;
    }

    export enum Speed {
      Normal = 1,
      Express,
    }

    declare module 'depot' {
      export function open(name: string): Depot;
    }

    export abstract class Depot {
      abstract close(): void;
      protected constructor(readonly name: string) {}
    }

    @Service({ scope: 'app' })
    export class Tracker<K extends string> extends Depot implements Disposable {
      private readonly seen = new Map<K, Label>();

      constructor(@inject('carrier') private carrier: Carrier) {
        // ... (4 lines)
      }

      /** Finds a label. */
      @memoize()
      find(number: K, zone?: Zone): Label | undefined {
        // ... (5 lines)
      }

      close(): void {
        this.seen.clear();
      }
    }

    export const track = <T,>(items: T[], by: (item: T) => string): Map<string, T> => {
      // ... (5 lines)
    };

    export namespace Rates {
      export function of(zone: Zone, speed: Speed = Speed.Normal): number {
        // ... (4 lines)
      }
    }
    "#);
}

#[test]
fn p08_outline_of_tsx() {
    insta::assert_snapshot!(outlined(Language::Tsx), @r#"
    import React, { useState } from 'react';
    import { Parcel } from './parcel';

    interface Props {
      parcels: Parcel[];
      onPick?: (parcel: Parcel) => void;
    }

    /** A list of parcels to pick from. */
    export function ParcelList({ parcels, onPick }: Props): JSX.Element {
      // ... (10 lines)
    }

    const Details: React.FC<{ of: Parcel }> = ({ of }) => (
      <dl>
        <dt>Weight</dt>
        <dd>{of.weight}</dd>
      </dl>
    );

    export const Picker = React.memo(
      React.forwardRef<HTMLDivElement, Props>((props, ref) => {
        // ... (5 lines)
      }),
    );
    "#);
}

#[test]
fn p08_outline_of_go() {
    insta::assert_snapshot!(outlined(Language::Go), @r#"
    // Package depot keeps track of parcels.
    package depot

    import (
    	"context"
    	"fmt"

    	rates "example.com/post/rates/v2"
    )

    // Heaviest is the heaviest parcel, in grams.
    const Heaviest = 31_500

    const (
    	Normal Speed = iota
    	Express
    )

    var zones = map[string]int{
    	// ... (4 lines)
    }

    // Speed is how a parcel travels.
    type Speed int

    // Parcel is one parcel.
    type Parcel struct {
    	Number string `json:"number"`
    	Weight int    `json:"weight"`
    	stops  []string
    }

    type Carrier interface {
    	Name() string
    	Price(ctx context.Context, p *Parcel) (int, error)
    }

    type (
    	Set[T comparable] map[T]struct{}
    	Filter            func(p *Parcel) bool
    )

    // Travel visits every stop.
    func (p *Parcel) Travel(
    	ctx context.Context,
    	visit func(stop string) error,
    ) error {
    	// ... (6 lines)
    }

    func (s Set[T]) Has(x T) bool { _, ok := s[x]; return ok }

    func New(number string) *Parcel {
    	return &Parcel{Number: number}
    }

    func price(p *Parcel, c Carrier) int {
    	// ... (5 lines)
    }
    "#);
}

#[test]
fn p08_outline_of_java() {
    insta::assert_snapshot!(outlined(Language::Java), @r#"
    package be.post.depot;

    import java.util.List;
    import java.util.Map;
    import static java.util.stream.Collectors.toList;

    /**
     * Keeps track of parcels.
     */
    @Service
    public class Depot<P extends Parcel> extends Base implements Closeable {
        private static final int HEAVIEST = 31_500;

        @Inject
        private final Map<String, P> parcels;

        static {
            Registry.add(Depot.class);
        }

        public Depot(Map<String, P> parcels) {
            // ... (5 lines)
        }

        /** Finds the heavy ones. */
        @Override
        public List<P> heavy(int limit)
                throws DepotClosed {
            // ... (6 lines)
        }

        public void close() {
            closed = true;
        }

        enum Speed {
            NORMAL(1),
            EXPRESS(2) {
                @Override
                int factor() {
                    return 3;
                }
            };

            private final int factor;

            Speed(int factor) {
                this.factor = factor;
            }
        }

        record Label(String number, int weight) {
            Label {
                // ... (4 lines)
            }
        }

        interface Carrier {
            int price(int weight);

            default String name() {
                return getClass().getSimpleName();
            }
        }
    }
    "#);
}

#[test]
fn p08_outline_of_c() {
    insta::assert_snapshot!(outlined(Language::C), @r#"
    // ... (7 lines)

    #include "depot.h"
    #include <stdio.h>

    #define HEAVIEST 31500
    #define SWAP(a, b)      \
        // ... (5 lines)

    typedef int (*visit_fn)(const char *stop, void *data);

    /* One parcel. */
    typedef struct parcel {
        char number[16]; /* as printed */
        int weight;
        struct parcel *next;
    } parcel;

    enum speed { NORMAL, EXPRESS };

    static int cmp(const void *a, const void *b);
    void deliver(parcel *head,
                 visit_fn visit,
                 void *data);

    /* What can be asked. */
    struct command commands[] = {
        // ... (4 lines)
    };

    DEPOT_BEGIN

    /* Visits every parcel. */
    void deliver(parcel *head, visit_fn visit, void *data)
    {
        // ... (5 lines)
    }

    #ifdef __linux__
    static inline int is_heavy(const parcel *p) {
        return p->weight > HEAVIEST;
    }
    #else
    static int is_heavy(const parcel *p) {
        // ... (4 lines)
    }
    #endif

    DEPOT_END
    "#);
}

#[test]
fn p08_outline_of_cpp() {
    insta::assert_snapshot!(outlined(Language::Cpp), @r#"
    #pragma once

    #include <string>
    #include "base.hpp"

    #define POST_API __attribute__((visibility("default")))

    namespace post {
    namespace detail {

    template <typename T>
    struct weight_of {
      static constexpr int value = 0;
    };

    }  // namespace detail

    using std::string;

    /// One parcel.
    class POST_API parcel : public base {
     public:
      explicit parcel(string number, int weight = 0)
          : number_(std::move(number)), weight_(weight) {
        // ... (4 lines)
      }
      virtual ~parcel() = default;

      /// The price in cents.
      virtual auto price() const noexcept -> int;

      bool operator==(const parcel& other) const { return number_ == other.number_; }

     protected:
      string number_;
      int weight_;
    };

    enum class speed : unsigned char { normal, express };

    template <typename Visitor, typename = std::enable_if_t<is_visitor<Visitor>>>
    auto visit(Visitor&& visitor, const parcel& p)
        -> decltype(visitor(p)) {
      // ... (5 lines)
    }

    auto parcel::price() const noexcept -> int {
      // ... (5 lines)
    }

    }  // namespace post

    extern "C" {
    int post_version(void) {
      return 3;
    }
    }
    "#);
}

#[test]
fn p08_outline_of_csharp() {
    insta::assert_snapshot!(outlined(Language::CSharp), @r#"
    using System;
    using System.Collections.Generic;
    using Rates = Post.Shared.Rates;

    namespace Post.Depot
    {
        /// <summary>Keeps track of parcels.</summary>
        [Serializable]
        public sealed class Depot<T> : Base, IDisposable where T : Parcel
        {
            private const int Heaviest = 31_500;
            private readonly Dictionary<string, T> parcels = new();

            public Depot(IEnumerable<T> all) : base("depot")
            {
                // ... (4 lines)
            }

            public int Count => parcels.Count;

            public string Name { get; init; } = "depot";

            public int Weight
            {
                // ... (6 lines)
            }

            /// <summary>Finds a parcel.</summary>
            [Obsolete("use Seek")]
            public async Task<T?> Find(
                string number,
                CancellationToken token = default)
            {
                // ... (4 lines)
            }

            public void Dispose() => parcels.Clear();
        }

        public record Label(string Number, int Weight);

        public interface ICarrier
        {
            int Price(int weight);
        }

        public enum Speed { Normal, Express }
    }
    "#);
}

#[test]
fn p08_outline_of_ruby() {
    insta::assert_snapshot!(outlined(Language::Ruby), @r#"
    # frozen_string_literal: true

    require "json"
    require_relative "carrier"

    module Post
      autoload :Rates, "post/rates"

      # One parcel.
      class Parcel < Base
        include Comparable

        HEAVIEST = 31_500
        ZONES = {
          # ... (4 lines)
        }.freeze
        WORDS = %w[
          fragile
          urgent
          heavy
          wet
        ].freeze

        attr_reader :number, :weight

        # Public: makes a parcel.
        def initialize(number, weight: 0, **options)
          # ... (4 lines)
        end

        def heavy? = weight > HEAVIEST

        def <=>(other)
          weight <=> other.weight
        end

        class << self
          def parse(line, separator = ";")
            # ... (5 lines)
          end
        end

        private

        def travel
          # ... (5 lines)
        end
      end

      def self.version
        "3"
      end
    end

    namespace :post do
      # ... (7 lines)
    end
    "#);
}

#[test]
fn p08_outline_of_php() {
    insta::assert_snapshot!(outlined(Language::Php), @r#"
    <?php

    declare(strict_types=1);

    namespace Post\Depot;

    use Post\Shared\{Rates, Zone as Area};
    use function Post\Shared\weigh;

    require_once __DIR__ . '/helpers.php';

    const HEAVIEST = 31500;

    interface Carrier
    {
        public function price(int $weight): int;
    }

    /**
     * Keeps track of parcels.
     */
    #[Service]
    final class Depot extends Base implements Carrier
    {
        use Logs;

        public const ZONES = [
            // ... (4 lines)
        ];

        /** @var array<string, Parcel> */
        private array $parcels = [];

        public function __construct(
            private readonly Rates $rates,
            ?string $name = null,
        ) {
            // ... (4 lines)
        }

        /**
         * The price in cents.
         */
        #[Override]
        public function price(int $weight): int
        {
            // ... (4 lines)
        }

        abstract protected function load(): iterable;
    }

    enum Speed: string
    {
        case Normal = 'n';
        case Express = 'x';

        public function factor(): int
        {
            // ... (4 lines)
        }
    }

    function deliver(array $parcels): void
    {
        // ... (4 lines)
    }
    "#);
}

#[test]
fn p08_outline_of_bash() {
    insta::assert_snapshot!(outlined(Language::Bash), @r#"
    #!/usr/bin/env bash
    # Delivers parcels.
    set -euo pipefail

    source "./lib.sh"

    HEAVIEST=31500
    readonly ZONES=(
      # ... (4 lines)
    )

    # Says how to call this.
    usage() {
      # ... (5 lines)
    }

    function deliver {
      # ... (6 lines)
    }

    log() { echo "$*" >&2; }

    # ... (5 lines)
    "#);
}

#[test]
fn p08_outline_of_kotlin() {
    insta::assert_snapshot!(outlined(Language::Kotlin), @r#"
    package be.post.depot

    import be.post.rates.Rates
    import be.post.zones.*
    import kotlin.math.max as largest

    const val HEAVIEST = 31_500

    typealias Visitor = (Parcel) -> Unit

    /** One parcel. */
    @Serializable
    data class Parcel(
        val number: String,
        val weight: Int = 0,
    ) : Comparable<Parcel> {
        val heavy: Boolean
            get() = weight > HEAVIEST

        init {
            // ... (4 lines)
        }

        override fun compareTo(other: Parcel): Int = weight.compareTo(other.weight)

        /** Visits every stop. */
        suspend inline fun <reified T : Any> travel(
            crossinline visit: (T) -> Unit,
        ): List<T> {
            // ... (6 lines)
        }

        companion object {
            fun parse(line: String): Parcel {
                // ... (4 lines)
            }
        }
    }

    sealed interface Speed {
        data object Normal : Speed
    }

    enum class Zone(val factor: Int) {
        NEAR(1),
        FAR(2);

        fun price(weight: Int) = factor * weight
    }

    object Depot : Base(), Carrier by Rates {
        private val parcels = HashMap<String, Parcel>()
    }

    fun deliver(parcels: List<Parcel>, visit: Visitor) {
        // ... (4 lines)
    }
    "#);
}

#[test]
fn p08_outline_of_swift() {
    insta::assert_snapshot!(outlined(Language::Swift), @r#"
    import Foundation
    @testable import struct Post.Label

    let heaviest = 31_500

    /// Whoever carries parcels.
    protocol Carrier: AnyObject {
        associatedtype Item
        var name: String { get }
        func price(of item: Item, express: Bool) throws -> Int
    }

    /// One parcel.
    @objcMembers
    public final class Parcel<T: Hashable>: NSObject, Codable {
        let number: String
        private(set) var weight = 0

        var heavy: Bool {
            // ... (4 lines)
        }

        init?(line: String) {
            // ... (5 lines)
        }

        deinit {
            weight = 0
        }

        /// Visits every stop.
        @discardableResult
        func travel<S: Sequence>(
            _ stops: S,
            visit: (S.Element) -> Void
        ) async throws -> Int where S.Element == T {
            // ... (6 lines)
        }
    }

    enum Speed: Int {
        case normal = 1
        case express

        var factor: Int { rawValue * 2 }
    }

    extension Parcel: Comparable {
        static func < (left: Parcel, right: Parcel) -> Bool {
            return left.weight < right.weight
        }
    }

    struct Label {
        var text: String
    }
    "#);
}

#[test]
fn p08_outline_of_scala() {
    insta::assert_snapshot!(outlined(Language::Scala), @r#"
    package be.post.depot

    import be.post.rates.{Rates, Zone => Area}
    import be.post.tools._

    /** Keeps track of parcels. */
    @Singleton
    class Depot[P <: Parcel](rates: Rates)(implicit ec: Context) extends Base with Carrier {
      private val Heaviest = 31500
      var parcels: Map[String, P] = Map.empty

      /** Finds the heavy ones. */
      def heavy(
          limit: Int = Heaviest
      ): Seq[P] = {
        // ... (4 lines)
      }

      override def close(): Unit = parcels = Map.empty

      def price(p: P): Int = p match {
        case Small(w) => w
        case _ => 0
      }
    }

    object Depot {
      case class Label(number: String, weight: Int)

      implicit val order: Ordering[Label] = Ordering.by(_.weight)

      def apply(lines: Seq[String]): Depot[Parcel] = {
        // ... (5 lines)
      }
    }

    sealed trait Speed {
      def factor: Int
    }
    "#);
}

#[test]
fn p08_outline_of_lua() {
    insta::assert_snapshot!(outlined(Language::Lua), @r#"
    local json = require("json")
    local rates = require "post.rates"

    local M = {}

    M.heaviest = 31500

    M.zones = {
      -- ... (4 lines)
    }

    --- One parcel.
    -- @param number string
    function M.parcel(number, weight)
      -- ... (4 lines)
    end

    function M:heavy()
      return self.weight > M.heaviest
    end

    local function price(parcel)
      -- ... (6 lines)
    end

    M.deliver = function(parcels)
      -- ... (4 lines)
    end

    return M
    "#);
}

#[test]
fn p08_outline_of_markdown() {
    insta::assert_snapshot!(outlined(Language::Markdown), @r#"
    ---
    title: Parcels
    ---

    Words before any heading.

    # Parcels

    How parcels travel.

    ## Weighing

    <!-- ... (9 lines) -->

    ### In grams

    Short.

    Delivering
    ----------

    <!-- ... (4 lines) -->

    ## Returning ##
    "#);
}
