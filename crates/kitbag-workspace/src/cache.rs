//! stub
pub struct Cache; #[derive(Default)] pub struct CacheLimits; pub struct Key;
impl Cache { pub fn open(_: Option<std::path::PathBuf>, _: CacheLimits) -> Self { Self }
 pub fn get<T>(&self,_: &Key)->Option<T>{None} pub fn put<T>(&self,_: &Key,_: &T){} }
impl Key { pub fn new(_: &str, _: &[&[u8]]) -> Self { Self } }
